//! The block of the heap that a failure is about: which threads freed and allocated it, and where.

use raddle_inspect::stack::{Frame, Unwinder};
use raddle_protocol::heap::{HeapReport, HeapSite};
use raddle_protocol::races::FRAMES;

use super::frames::Frames;
use super::threads::{self, ThreadView};

/// What a thread did to the block.
pub const FREED: &str = "freed it";
const ALLOCATED: &str = "allocated it";

/// Adds to the threads of a failed run which of them freed and allocated the block. `looked_at` is the thread that freed
/// it, if the run was stopped there: otherwise only the runtime's notes are known, which may be a single frame.
pub fn add_sites(
    views: &mut Vec<ThreadView>,
    report: &HeapReport,
    looked_at: Option<&ThreadView>,
    (unwinder, frames, pid): (&mut Unwinder, &Frames, i32),
) {
    if report.block == 0 {
        return;
    }
    let mut stack_of = |site: &HeapSite| -> Vec<Frame> {
        let depth = (site.depth as usize).min(FRAMES);
        site.frames[..depth].iter().flat_map(|&back| unwinder.frames_at(pid, back)).collect()
    };
    let mut sites = Vec::new();
    for (site, deed) in [(&report.freed, FREED), (&report.allocated, ALLOCATED)] {
        let Some(id) = site.thread.checked_sub(1) else { continue };
        let stack = stack_of(site);
        let noted = ThreadView { place: frames.place(&stack), frames: frames.backtrace(&stack), ..Default::default() };
        let known = looked_at.filter(|_| deed == FREED).unwrap_or(&noted);
        sites.push(ThreadView {
            id: id as u16,
            name: threads::name_of(views, id as u16).unwrap_or_default(),
            state: deed.to_string(),
            place: known.place.clone(),
            frames: known.frames.clone(),
            ..ThreadView::default()
        });
    }
    if let Some(freed) = sites.iter().find(|site| site.state == FREED) {
        threads::name_origin(views, freed.id, FREED, freed.place.clone());
    }
    // Behind the thread that failed, if it is known.
    let first = usize::from(views.first().is_some_and(|view| view.state.starts_with("failed")));
    views.splice(first..first, sites);
}
