//! tokio's runtime with two workers, its drivers for time and input, and its locks and channels.

mod pass {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::{broadcast, mpsc, oneshot, watch, Barrier, Mutex, Notify, RwLock, Semaphore};
    use tokio::task::JoinSet;
    use tokio::time::{self, Instant};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn spawn_and_join() {
        let tasks: Vec<_> = (0..3).map(|number| tokio::spawn(async move { 2 * number })).collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap();
        }
        assert_eq!(sum, 6);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn channels() {
        let (sender, mut receiver) = mpsc::channel(1);
        for me in 0..2 {
            let sender = sender.clone();
            tokio::spawn(async move {
                for item in 0..2 {
                    sender.send(2 * me + item).await.unwrap();
                }
            });
        }
        drop(sender);
        let mut received = Vec::new();
        while let Some(item) = receiver.recv().await {
            received.push(item);
        }
        received.sort();
        assert_eq!(received, [0, 1, 2, 3]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn answers() {
        let (questions, mut asked) = mpsc::unbounded_channel::<(u32, oneshot::Sender<u32>)>();
        let server = tokio::spawn(async move {
            while let Some((question, answer)) = asked.recv().await {
                answer.send(question + 1).unwrap();
            }
        });
        let (answer, answered) = oneshot::channel();
        questions.send((41, answer)).unwrap();
        assert_eq!(answered.await, Ok(42));
        drop(questions);
        server.await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn mutex() {
        let total = Arc::new(Mutex::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..3 {
            let total = Arc::clone(&total);
            tasks.spawn(async move {
                let mut total = total.lock().await;
                let seen = *total;
                tokio::task::yield_now().await;
                *total = seen + 1;
            });
        }
        while let Some(task) = tasks.join_next().await {
            task.unwrap();
        }
        assert_eq!(*total.lock().await, 3);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn rwlock_and_semaphore() {
        let (pair, permits) = (Arc::new(RwLock::new((0, 0))), Arc::new(Semaphore::new(2)));
        let mut tasks = JoinSet::new();
        for _ in 0..2 {
            let (pair, permits) = (Arc::clone(&pair), Arc::clone(&permits));
            tasks.spawn(async move {
                let _permit = permits.acquire().await.unwrap();
                let mut pair = pair.write().await;
                pair.0 += 1;
                tokio::task::yield_now().await;
                pair.1 += 1;
            });
        }
        let seen = *pair.read().await;
        assert_eq!(seen.0, seen.1);
        while let Some(task) = tasks.join_next().await {
            task.unwrap();
        }
        assert_eq!((*pair.read().await, permits.available_permits()), ((2, 2), 2));
    }

    /// `notify_one` is kept until somebody waits.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn notify() {
        let notify = Arc::new(Notify::new());
        let waits = {
            let notify = Arc::clone(&notify);
            tokio::spawn(async move { notify.notified().await })
        };
        notify.notify_one();
        waits.await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn watch_and_broadcast() {
        let (version, mut seen) = watch::channel(0);
        let (news, mut heard) = broadcast::channel(4);
        let task = tokio::spawn(async move {
            seen.wait_for(|version| *version == 2).await.unwrap();
            heard.recv().await.unwrap()
        });
        version.send(1).unwrap();
        news.send("all").unwrap();
        version.send(2).unwrap();
        assert_eq!(task.await.unwrap(), "all");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn barrier() {
        let barrier = Arc::new(Barrier::new(3));
        let tasks: Vec<_> = (0..2)
            .map(|_| Arc::clone(&barrier))
            .map(|barrier| tokio::spawn(async move { barrier.wait().await.is_leader() }))
            .collect();
        let mut leaders = usize::from(barrier.wait().await.is_leader());
        for task in tasks {
            leaders += usize::from(task.await.unwrap());
        }
        assert_eq!(leaders, 1);
    }

    /// An hour of virtual time.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn sleep() {
        let start = Instant::now();
        let (long, short) = (Duration::from_secs(3600), Duration::from_secs(1));
        let sleeper = tokio::spawn(async move {
            time::sleep(long).await;
            start.elapsed()
        });
        time::sleep(short).await;
        assert!((short..long).contains(&start.elapsed()));
        assert!(sleeper.await.unwrap() >= long);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn timeout() {
        let (_sender, receiver) = oneshot::channel::<()>();
        assert!(time::timeout(Duration::from_secs(5), receiver).await.is_err());
        let task = tokio::spawn(time::sleep(Duration::from_secs(1)));
        assert!(time::timeout(Duration::from_secs(5), task).await.is_ok());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn interval() {
        let ticks = Arc::new(AtomicUsize::new(0));
        let ticker = {
            let ticks = Arc::clone(&ticks);
            tokio::spawn(async move {
                let mut interval = time::interval(Duration::from_secs(10));
                loop {
                    interval.tick().await;
                    ticks.fetch_add(1, SeqCst);
                }
            })
        };
        time::sleep(Duration::from_secs(25)).await;
        ticker.abort();
        assert!(ticker.await.unwrap_err().is_cancelled());
        assert_eq!(ticks.load(SeqCst), 3);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn select() {
        let (stop, mut stopped) = oneshot::channel();
        let (sender, mut receiver) = mpsc::channel(1);
        let task = tokio::spawn(async move {
            let mut sum = 0;
            loop {
                tokio::select! {
                    Some(item) = receiver.recv() => sum += item,
                    _ = &mut stopped => break,
                    () = time::sleep(Duration::from_secs(60)) => panic!("nobody needs a minute"),
                }
            }
            while let Some(item) = receiver.recv().await {
                sum += item;
            }
            sum
        });
        sender.send(1).await.unwrap();
        sender.send(2).await.unwrap();
        stop.send(()).unwrap();
        drop(sender);
        assert_eq!(task.await.unwrap(), 3);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn blocking() {
        let task = tokio::task::spawn_blocking(|| {
            std::thread::sleep(Duration::from_secs(1));
            7
        });
        assert_eq!(task.await.unwrap(), 7);
        assert_eq!(tokio::task::block_in_place(|| 8), 8);
    }

    /// Sockets go through epoll, with both ends in this process.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn sockets() {
        let (mut near, mut far) = tokio::net::UnixStream::pair().unwrap();
        let echo = tokio::spawn(async move {
            let mut byte = [0];
            far.read_exact(&mut byte).await.unwrap();
            far.write_all(&[byte[0] + 1]).await.unwrap();
        });
        near.write_all(&[6]).await.unwrap();
        let mut byte = [0];
        near.read_exact(&mut byte).await.unwrap();
        assert_eq!(byte, [7]);
        echo.await.unwrap();
    }

    /// A runtime is dropped while tasks wait for what never comes.
    #[test]
    fn shutdown() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (sender, receiver) = oneshot::channel::<()>();
        runtime.spawn(async move {
            std::future::pending::<()>().await;
            drop(sender);
        });
        runtime.spawn(time_for_ever());
        drop(runtime);
        assert!(receiver.blocking_recv().is_err());
    }

    async fn time_for_ever() {
        loop {
            time::sleep(Duration::from_secs(1)).await;
        }
    }

    #[tokio::test]
    async fn one_thread() {
        let (sender, receiver) = oneshot::channel();
        let thread = std::thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.await, Ok(1));
        thread.join().unwrap();
    }
}

mod fail {
    use std::sync::Arc;
    use tokio::sync::{Mutex, Notify};

    /// `notify_waiters` reaches only those who wait already.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn lost_notification() {
        let notify = Arc::new(Notify::new());
        let waits = {
            let notify = Arc::clone(&notify);
            tokio::spawn(async move { notify.notified().await })
        };
        tokio::task::yield_now().await;
        notify.notify_waiters();
        waits.await.unwrap();
    }

    /// The balance may change at every `await`.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn check_then_act() {
        let balance = Arc::new(Mutex::new(100));
        let withdraw = |balance: Arc<Mutex<i32>>| async move {
            let enough = *balance.lock().await >= 100;
            if enough {
                *balance.lock().await -= 100;
            }
        };
        let other = tokio::spawn(withdraw(Arc::clone(&balance)));
        withdraw(Arc::clone(&balance)).await;
        other.await.unwrap();
        assert!(*balance.lock().await >= 0);
    }

    /// Tasks that wait for each other, while the workers have nothing to do.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn opposite_orders() {
        let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let both = |first: Arc<Mutex<i32>>, second: Arc<Mutex<i32>>| async move {
            let mut first = first.lock().await;
            *first += *second.lock().await;
        };
        let task = tokio::spawn(both(Arc::clone(&a), Arc::clone(&b)));
        both(b, a).await;
        task.await.unwrap();
    }
}
