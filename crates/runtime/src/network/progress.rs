//! Progress of the parties, as one of them knows it: which have stopped, finished, or are lost.
//!
//! Takes what the connections report; gives the reason why an epoch cannot go on. Never waits and
//! never sends. Every kind of network asks here, so that all agree on what goes first.

use super::{NetworkError, PartyId, Traffic};

/// The state of one party, as far as it is known.
#[derive(Clone, Default)]
struct PartyState {
    /// The last epoch in which it stopped.
    stopped: Option<u64>,
    /// The last epoch that it finished.
    finished: Option<u64>,
    /// The reason why nothing more will come from it.
    lost: Option<NetworkError>,
}

/// The states of all parties, as far as they are known.
pub struct Progress {
    standings: Vec<PartyState>,
}

impl Progress {
    /// Knows nothing of any party yet.
    pub fn new(parties: usize) -> Progress {
        Progress { standings: vec![PartyState::default(); parties] }
    }

    /// Notes that a party has stopped in an epoch.
    pub fn note_stopped(&mut self, party: PartyId, epoch: u64) {
        let stopped = &mut self.standings[party].stopped;
        *stopped = (*stopped).max(Some(epoch));
    }

    /// Notes that a party has finished an epoch.
    pub fn note_finished(&mut self, party: PartyId, epoch: u64) {
        let finished = &mut self.standings[party].finished;
        *finished = (*finished).max(Some(epoch));
    }

    /// Notes that nothing more will come from a party. The first reason stays.
    pub fn note_lost(&mut self, party: PartyId, why: NetworkError) {
        self.standings[party].lost.get_or_insert(why);
    }

    /// Decides whether a party is lost.
    pub fn is_lost(&self, party: PartyId) -> bool {
        self.standings[party].lost.is_some()
    }

    /// Decides whether a party has finished an epoch or a later one.
    pub fn has_finished(&self, party: PartyId, epoch: u64) -> bool {
        self.standings[party].finished >= Some(epoch)
    }

    /// Decides whether an epoch can go on: nobody has stopped in it, and nobody that has not
    /// finished it is lost. A party that was lost after it finished may have ended its program.
    ///
    /// # Errors
    /// The first party that has stopped, otherwise the first that is lost.
    pub fn check(&self, epoch: u64) -> Result<(), NetworkError> {
        let stopped = |standing: &PartyState| match standing.stopped {
            // Who stops in a later epoch without having finished this one does not go on with it.
            Some(at) => at == epoch || at > epoch && standing.finished < Some(epoch),
            None => false,
        };
        if let Some(party) = self.standings.iter().position(stopped) {
            return Err(NetworkError::Stopped(party));
        }
        let unfinished = self.standings.iter().filter(|standing| standing.finished < Some(epoch));
        match unfinished.filter_map(|standing| standing.lost.clone()).next() {
            Some(why) => Err(why),
            None => Ok(()),
        }
    }
}

/// Counters of the messages of one party.
#[derive(Default)]
pub struct Counters {
    traffic: Traffic,
    sent_since: bool,
}

impl Counters {
    /// Counts a message of that many bytes that was sent.
    pub fn count_sent(&mut self, bytes: u64) {
        self.traffic.messages_sent += 1;
        self.traffic.bytes_sent += bytes;
        self.sent_since = true;
    }

    /// Counts a message of that many bytes that was received.
    pub fn count_received(&mut self, bytes: u64) {
        self.traffic.messages_received += 1;
        self.traffic.bytes_received += bytes;
        self.traffic.rounds += u64::from(std::mem::take(&mut self.sent_since));
    }

    /// Returns the counters.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_goes_before_a_loss() {
        let mut progress = Progress::new(3);
        assert_eq!(progress.check(1), Ok(()));
        progress.note_lost(0, NetworkError::Lost(0));
        progress.note_lost(0, NetworkError::Silent(0));
        assert_eq!(progress.check(1), Err(NetworkError::Lost(0)));
        progress.note_stopped(2, 1);
        assert_eq!(progress.check(1), Err(NetworkError::Stopped(2)));
        assert_eq!(progress.check(2), Err(NetworkError::Lost(0)), "the stop is of an older epoch");
    }

    #[test]
    fn who_has_finished_may_go() {
        let mut progress = Progress::new(2);
        progress.note_finished(1, 4);
        progress.note_lost(1, NetworkError::Lost(1));
        assert!(progress.has_finished(1, 4) && progress.has_finished(1, 3) && !progress.has_finished(1, 5));
        assert_eq!(progress.check(4), Ok(()));
        assert_eq!(progress.check(5), Err(NetworkError::Lost(1)));
    }

    #[test]
    fn a_stop_in_a_later_epoch_ends_one_that_is_not_finished() {
        let mut progress = Progress::new(2);
        progress.note_stopped(1, 5);
        assert_eq!(progress.check(4), Err(NetworkError::Stopped(1)));
        progress.note_finished(1, 4);
        assert_eq!(progress.check(4), Ok(()));
        assert_eq!(progress.check(5), Err(NetworkError::Stopped(1)));
        assert_eq!(progress.check(6), Ok(()));
    }

    #[test]
    fn rounds_are_turns_from_sending_to_receiving() {
        let mut counters = Counters::default();
        counters.count_received(1);
        assert_eq!(counters.traffic().rounds, 0);
        for _ in 0..2 {
            counters.count_sent(2);
            counters.count_sent(3);
            counters.count_received(4);
            counters.count_received(5);
        }
        let traffic = counters.traffic();
        assert_eq!((traffic.rounds, traffic.messages_sent, traffic.messages_received), (2, 4, 5));
        assert_eq!((traffic.bytes_sent, traffic.bytes_received), (10, 19));
    }
}
