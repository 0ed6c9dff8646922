/*
 * A key with once = PER_KEY, for instance a webhook that is delivered several times: it is worked on once while it is
 * remembered, whoever is killed.
 *
 * read    mutant
 * begin   ledger.jdbc.RecordedRun.begin, jdbc.TransactionScope.acquire
 *         LedgerDeliveryTests.eachOfFortyEventsHasOneEffect
 * commit  ledger.jdbc.RecordedRun.complete
 *         LedgerTransactionTests.joinedRunCommitsTogetherWithItsEffect
 * commitFailed  ledger.jdbc.RecordedRun.completeFailed, jdbc.TransactionPart.beforeCommit
 *         RunOutcomeTests.keyHasOneCommittedEffectOfFourCallsOnTwoInstances
 * kill    environment
 *         LedgerCrashTests.killedTransactionRunLeavesNeitherEffectNorRow
 * expire  environment
 *         LedgerPurgeTests.keyIsRememberedForAsLongAsItsRowSays
 * forget  ledger.jdbc.LedgerHousekeeping.purge, ledger.jdbc.LedgerPurge.outdated
 *         LedgerPurgeTests.keyIsRememberedForAsLongAsItsRowSays
 */
module OncePerKey

sig Key {}

sig Instance {
	var runs: lone Key,
	-- what a mutant has read of the ledger before it has the lock
	var unseen: set Key
}

var sig Held in Key {}

-- Keys with a row that says that they are completed, and those whose promise to remember is over
var sig Completed, Expired in Key {}

var sig Once, Twice in Key {}

-- The mutants: the ledger is read before the lock is taken; rows go before their promise is over; the lock is a lease; what
-- is committed in spite of an exception is not completed
abstract sig Mutant {}
lone sig ReadsFirst, ForgetsEarly, Lease, ExceptionDecides extends Mutant {}

fact init {
	no Held + Completed + Expired + Once + Twice + Instance.runs + Instance.unseen
}

pred read [i: Instance, k: Key] {
	some ReadsFirst
	no i.runs
	k not in Completed
	unseen' = unseen + i->k
	runs' = runs
	Held' = Held
	Completed' = Completed
	Expired' = Expired
	Once' = Once
	Twice' = Twice
}

-- The completion is read under the lock
pred begin [i: Instance, k: Key] {
	no i.runs
	k not in Held or some Lease
	some ReadsFirst => k in i.unseen else k not in Completed
	runs' = runs + i->k
	unseen' = unseen - i->k
	Held' = Held + k
	Completed' = Completed
	Expired' = Expired
	Once' = Once
	Twice' = Twice
}

-- Work and completion are in one transaction
pred commit [i: Instance] {
	some i.runs
	runs' = runs - i->Key
	unseen' = unseen
	Held' = Held - i.runs
	Completed' = Completed + i.runs
	Expired' = Expired - i.runs
	Once' = Once + i.runs
	Twice' = Twice + (i.runs & Once)
}

-- The work throws, and its transaction is committed nevertheless
pred commitFailed [i: Instance] {
	some i.runs
	runs' = runs - i->Key
	unseen' = unseen
	Held' = Held - i.runs
	Completed' = (some ExceptionDecides => Completed else Completed + i.runs)
	Expired' = Expired - i.runs
	Once' = Once + i.runs
	Twice' = Twice + (i.runs & Once)
}

-- An instance dies, or the work throws, and the server rolls back
pred kill [i: Instance] {
	some i.runs
	runs' = runs - i->Key
	unseen' = unseen - i->Key
	Held' = Held - i.runs
	Completed' = Completed
	Expired' = Expired
	Once' = Once
	Twice' = Twice
}

-- Time passes until the promise of a row is over. From then on a delivery is a new one
pred expire [k: Key] {
	k in Completed
	runs' = runs
	unseen' = unseen
	Held' = Held
	Completed' = Completed
	Expired' = Expired + k
	Once' = Once - k
	Twice' = Twice
}

pred forget [k: Key] {
	k in Completed
	k in Expired or some ForgetsEarly
	runs' = runs
	unseen' = unseen
	Held' = Held
	Completed' = Completed - k
	Expired' = Expired - k
	Once' = Once
	Twice' = Twice
}

pred rest {
	runs' = runs
	unseen' = unseen
	Held' = Held
	Completed' = Completed
	Expired' = Expired
	Once' = Once
	Twice' = Twice
}

fact behaviour {
	always (rest
		or (some i: Instance | commit[i] or commitFailed[i] or kill[i] or some k: Key | read[i, k] or begin[i, k])
		or (some k: Key | expire[k] or forget[k]))
}

assert workOnce {
	always no Twice
}

assert oneRunOfAKeyAtATime {
	always all k: Key | lone runs.k
}

-- Killed twice and still done, then forgotten and done anew
pred doneAfterAll {
	some disj a, b, c: Instance, k: Key |
		eventually (begin[a, k] and eventually (kill[a] and eventually (begin[b, k] and eventually (kill[b] and
			eventually (begin[c, k] and eventually (commit[c] and eventually (forget[k] and
				eventually (begin[a, k] and eventually commit[a]))))))))
}

check workOnce for exactly 3 Instance, exactly 2 Key, 0 Mutant, 12 .. 12 steps expect 0
check oneRunOfAKeyAtATime for exactly 3 Instance, exactly 2 Key, 0 Mutant, 12 .. 12 steps expect 0
check workOnce for exactly 3 Instance, exactly 1 Key, 1 Mutant, exactly 1 ReadsFirst, 12 steps expect 1
check workOnce for exactly 3 Instance, exactly 1 Key, 1 Mutant, exactly 1 ForgetsEarly, 12 steps expect 1
check workOnce for exactly 3 Instance, exactly 1 Key, 1 Mutant, exactly 1 ExceptionDecides, 12 steps expect 1
check oneRunOfAKeyAtATime for exactly 3 Instance, exactly 1 Key, 1 Mutant, exactly 1 Lease, 12 steps expect 1
-- The work throws and is done, so it is not done again until it is forgotten
pred doneByFailure {
	some disj a, b: Instance, k: Key | eventually (commitFailed[a] and k in a.runs and
		eventually (forget[k] and eventually (begin[b, k] and eventually commit[b])))
}

run doneByFailure for exactly 3 Instance, exactly 1 Key, 0 Mutant, 12 steps expect 1
run doneAfterAll for exactly 3 Instance, exactly 1 Key, 0 Mutant, 14 steps expect 1
