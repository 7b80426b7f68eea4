//! What a person sees while a campaign goes on.

pub mod interrupt;
mod progress;

use raddle_engine::campaign::{Campaign, Event, Outcome};

use progress::Progress;

/// Follows a campaign to its end, with a live line if there is to be one; Ctrl-C ends it with what it has.
pub fn follow(campaign: Campaign, show_progress: bool) -> Outcome {
    follow_with(campaign, show_progress, |_| {})
}

/// The same, and hands each event to a listener.
pub fn follow_with(mut campaign: Campaign, show_progress: bool, mut listen: impl FnMut(&Event)) -> Outcome {
    interrupt::listen();
    let mut line = Progress::new(campaign.plan().runs, show_progress);
    loop {
        if interrupt::requested() {
            campaign.interrupt();
        }
        // invariant: the last event of a campaign is that it is over.
        let Some(event) = campaign.next() else { unreachable!("a campaign ends with its outcome") };
        listen(&event);
        match event {
            Event::Progress(progress) => line.show(&progress),
            Event::Over(outcome) => {
                line.finish();
                return *outcome;
            }
            Event::Run(_) | Event::Finding(_) | Event::Note(_) => {}
        }
    }
}
