/*
 * Tokens and terms over a crash of the server, and over the promotion of a standby that has not had all of the WAL:
 * what has left the process is always lower than what comes after.
 *
 * draw      jdbc.RisingNumbers: (timeline << 44) + number             LeaderTermTests
 * flush     ledger.RunRepository.makeDurable: before it leaves       LeaderTermTests
 * tell      LockContext.fencingToken(), LeaderElection.term()         LeaderTermTests
 * crash     kill -9 of the server: what was not flushed is gone       LeaderTermTests
 * promote   a standby takes over with what it has, on a new timeline  LeaderTermTests
 * ship      the standby gets what was flushed                         LeaderTermTests
 */
module Failover

open util/ordering[Timeline] as timelines

sig Timeline {}

sig Instance {
	-- a token that was drawn and has not left the process
	var timeline: lone Timeline,
	var number: lone Int
}

one sig Server {
	var current: one Timeline,
	-- the last number drawn, the last that is on disk, and the last that the standby has
	var memory: Int,
	var disk: Int,
	var standby: Int
}

-- The highest token that somebody outside knows
one sig Outside {
	var highestTimeline: lone Timeline,
	var highest: Int
}

-- A token that was told is not above all that were told before
var lone sig Fell in Outside {}

one sig Rules {}
-- The mutants: numbers without the timeline; told before they are on disk
lone sig WithoutTimeline in Rules {}
lone sig WithoutFlush in Rules {}

fact init {
	Server.current = timelines/first
	Server.memory = 0
	Server.disk = 0
	Server.standby = 0
	no Outside.highestTimeline
	Outside.highest = 0
	no Instance.timeline
	no Instance.number
	no Fell
}

pred outside {
	highestTimeline' = highestTimeline
	highest' = highest
	Fell' = Fell
}

pred draw [i: Instance] {
	no i.number
	plus[Server.memory, 1] > 0
	memory' = Server->plus[Server.memory, 1]
	number' = number + i->plus[Server.memory, 1]
	timeline' = timeline + i->Server.current
	current' = current
	disk' = disk
	standby' = standby
	outside
}

pred flush {
	disk' = Server->Server.memory
	memory' = memory
	standby' = standby
	current' = current
	number' = number
	timeline' = timeline
	outside
}

pred ship {
	standby' = Server->Server.disk
	disk' = disk
	memory' = memory
	current' = current
	number' = number
	timeline' = timeline
	outside
}

pred tell [i: Instance] {
	some i.number
	i.timeline = Server.current
	i.number <= Server.disk or some WithoutFlush
	Fell' = Fell + (above[i] => none else Outside)
	highestTimeline' = Outside->i.timeline
	highest' = Outside->i.number
	number' = number - i->Int
	timeline' = timeline - i->Timeline
	current' = current
	memory' = memory
	disk' = disk
	standby' = standby
}

-- As integers: the timeline is in the high bits. One run of a key at a time: who is told has drawn last
pred above [i: Instance] {
	no Outside.highestTimeline or (some WithoutTimeline => i.number > Outside.highest
		else (timelines/gt[i.timeline, Outside.highestTimeline]
			or i.timeline = Outside.highestTimeline and i.number > Outside.highest))
}

-- All sessions end; who had drawn and not told has lost its lock
pred crash {
	memory' = Server->Server.disk
	disk' = disk
	standby' = standby
	current' = current
	no number'
	no timeline'
	outside
}

pred promote {
	some timelines/next[Server.current]
	current' = Server->timelines/next[Server.current]
	memory' = Server->Server.standby
	disk' = Server->Server.standby
	standby' = standby
	no number'
	no timeline'
	outside
}

pred rest {
	number' = number
	timeline' = timeline
	current' = current
	memory' = memory
	disk' = disk
	standby' = standby
	outside
}

-- Under one lock: the next draws when the one before has told or is gone
fact behaviour {
	always lone number.Int
	always (rest or flush or ship or crash or promote or some i: Instance | draw[i] or tell[i])
}

pred asWritten {
	no WithoutTimeline
	no WithoutFlush
}

assert tokensRise {
	asWritten implies always no Fell
}

assert tokensRiseWithoutTimeline {
	(some WithoutTimeline and no WithoutFlush) implies always no Fell
}

assert tokensRiseWithoutFlush {
	(no WithoutTimeline and some WithoutFlush) implies always no Fell
}

-- A standby that missed a token is promoted, and tokens go on
pred lagging {
	asWritten
	some a, b: Instance |
		eventually (tell[a] and Server.standby < Server.disk and eventually (promote and eventually tell[b]))
}

check tokensRise for exactly 3 Instance, exactly 3 Timeline, 4 Int, 1 Rules, 12 steps expect 0
check tokensRiseWithoutTimeline for exactly 3 Instance, exactly 3 Timeline, 4 Int, 1 Rules, 12 steps expect 1
check tokensRiseWithoutFlush for exactly 3 Instance, exactly 3 Timeline, 4 Int, 1 Rules, 12 steps expect 1
run lagging for exactly 3 Instance, exactly 3 Timeline, 4 Int, 1 Rules, 12 steps expect 1
