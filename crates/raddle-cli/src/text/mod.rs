//! What a person reads when a campaign is over.

pub mod campaign;
pub mod command_line;
mod late;
mod racing;
pub mod replay;
pub mod screen;
pub mod search;
pub mod worth;
