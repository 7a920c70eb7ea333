package cluster

import (
	"regexp"
	"slices"
	"strings"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// refusal says what an error reply to a changing command means. It matches the reply by its code and by a part of its
// text.
type refusal struct {
	codes []int  // one of these
	text  string // part of the text; "": any
	kind  fault.Kind
	busy  operation.Obstacle // why the same command may succeed later; "" if it will not by itself
	from  string             // where it is known from, if it is not in the recordings of a real 5.0.7 or 8.0.10
}

// Where rows are known from that no recording has.
const (
	serverSource = "the server's source"
	serverCodes  = "base/error_codes.yml of the server"
	seenOn5      = "seen on a real 5.0.7, not recorded"
	seenOn8      = "seen on a real 8.0.10, not recorded"
)

// worded are codes that say too little, or that differ by release, so that the text decides: none, BadValue,
// UnknownError, FailedToParse, IllegalOperation, NamespaceNotFound, ShardNotFound, InvalidOptions, NamespaceNotSharded,
// StaleConfig. None of them is used where the outcome is unknown, so that a key with such words in it cannot make a
// refusal of it.
var worded = []int{0, 2, 8, 9, 20, 26, 70, 72, 118, 13388, 51261, 656451, 656452}

// refusals are the error replies that are understood. The first row that matches decides, so rows with a text come
// before those of their code. Conflict, Invalid, NotFound and Forbidden promise that the cluster was not changed.
//
// Releases word the same refusal differently: since 8.0 the config server sends every move, and its replies begin with
// "Command request failed on source shard", also when the donor refused before it began. Tests hold rows to what a real
// 5.0.7 and 8.0.10 answered.
var refusals = []refusal{
	{codes: []int{codeUnauthorized, codeAtlas}, kind: fault.Forbidden},

	// The recipient has to delete documents of the range first: it waits 10 s for that and gives up before it copies.
	// To 7.0.
	{codes: []int{50, 96}, text: "Failed to delete orphaned", kind: fault.Conflict, busy: operation.ObstacleOrphans},
	// 8.0.
	{codes: []int{50, 96}, text: "the orphans cleanup routine didn't clear", kind: fault.Conflict, busy: operation.ObstacleOrphans},

	// Migrations in the way.
	{codes: []int{codeConflictingOp}, text: "undergoing changes", kind: fault.Conflict, busy: operation.ObstacleDDL},
	{codes: []int{codeConflictingOp}, kind: fault.Conflict, busy: operation.ObstacleMigration},
	// Of the same chunk.
	{codes: []int{11000}, text: "config.migrations", kind: fault.Conflict, busy: operation.ObstacleMigration, from: seenOn5},

	// A move that failed while it copied. Before the commit the donor takes it back; after "failed on source shard" alone
	// it may have committed.
	{codes: []int{96}, text: "Data transfer error", kind: fault.Conflict},
	{codes: []int{96}, text: "failed on source shard", kind: fault.UnknownOutcome},
	{codes: []int{96}, kind: fault.Conflict},

	// Ranges and chunks that are not what the command expects.
	{codes: worded, text: "no chunk found", kind: fault.NotFound}, // without a code in 5.0, 656452 in 8.0
	{codes: worded, text: "no chunk was found", kind: fault.NotFound, from: serverSource},
	{codes: worded, text: "is a boundary key of", kind: fault.Conflict},
	{codes: worded, text: "could not merge chunks", kind: fault.Conflict},
	{codes: worded, text: "has a hole in the range", kind: fault.Conflict, from: serverSource},
	{codes: worded, text: "does not belong to shard", kind: fault.Conflict, from: serverSource},
	// A merge in 8.0, with StaleConfig: trying again does not help.
	{codes: worded, text: "is not owned by this shard", kind: fault.Conflict},
	{codes: worded, text: "not contained within chunk", kind: fault.Conflict, from: serverSource},
	// A split at the median of an empty chunk: 5.0.
	{codes: worded, text: "desired max chunk size", kind: fault.Conflict, from: seenOn5},
	{codes: worded, text: "option on an empty collection", kind: fault.Conflict, from: seenOn8}, // likewise: 8.0
	{codes: worded, text: "is currently draining", kind: fault.Conflict},
	{codes: worded, text: "can only be called on an unsharded collection", kind: fault.Conflict},
	{codes: worded, text: "not valid for shard key pattern", kind: fault.Invalid},
	{codes: worded, text: "max bound must be greater than", kind: fault.Invalid},
	{codes: worded, text: "need to specify", kind: fault.Invalid},
	{codes: worded, text: "cannot specify", kind: fault.Invalid},
	{codes: worded, text: "bound not specified", kind: fault.Invalid, from: serverSource},
	{codes: worded, text: "no shard key found", kind: fault.Invalid, from: serverSource},

	// By code alone.
	{codes: []int{50, 262}, text: "time limit", kind: fault.UnknownOutcome, busy: operation.ObstacleTime},
	// A mongos whose shard did not answer in time, as DDL behind a move.
	{codes: []int{50}, text: "timed out, deadline was", kind: fault.UnknownOutcome, busy: operation.ObstacleTime},
	{codes: []int{50}, kind: fault.UnknownOutcome, from: serverCodes},
	// LockTimeout, LockBusy.
	{codes: []int{24, 46}, kind: fault.Conflict, busy: operation.ObstacleLock, from: serverCodes},
	// Stale version, epoch, config.
	{codes: []int{63, 150, 13388}, kind: fault.Conflict, busy: operation.ObstacleMetadata, from: serverCodes},
	// MovePrimary, resharding running.
	{codes: []int{319, 338}, kind: fault.Conflict, busy: operation.ObstacleDDL, from: serverCodes},
	// Replaced, too big, zone in use, ….
	{codes: []int{48, 105, 87, 153, 163, 178, 200, 20, 339}, kind: fault.Conflict},
	// Too late to abort, aborted.
	{codes: []int{codeReshardCommits, codeReshardAborted}, kind: fault.Conflict, from: serverCodes},
	// Too few values of the key for so many chunks.
	{codes: []int{4952606}, kind: fault.Conflict},
	// Values, options, types, keys, names.
	{codes: []int{2, 9, 72, 14, 61, 73, 16634}, kind: fault.Invalid},
	// Namespace, shard, zone, chunk.
	{codes: []int{codeNamespaceNotFound, 70, 118, 177, 40165, 51261}, kind: fault.NotFound},
	// Of another release.
	{codes: []int{codeCommandNotFound}, kind: fault.NotFound},
	// No majority; moved, not cleaned up.
	{codes: []int{64, 265}, kind: fault.UnknownOutcome, from: serverCodes},
}

// row is the row that says what an error reply means; nil for one that no row matches.
func (a answer) row() *refusal {
	for i := range refusals {
		r := &refusals[i]
		if slices.Contains(r.codes, a.code) && strings.Contains(a.text, r.text) {
			return r
		}
	}
	return nil
}

// inTheWay matches the text of ConflictingOperationInProgress in 5.0.7 and, with "range" and "to shard", in 8.0.10.
var inTheWay = regexp.MustCompile(`currently (donating|receiving) (?:chunk |range )?(.*) for namespace (\S+) (?:to|from) (?:shard )?(\S+)`)

// rangeShown is how much of a range in the server's words is kept, in bytes.
const rangeShown = 300

// busyError is the error of a refusal that means "not now".
func busyError(o operation.Obstacle, text string, cause error) error {
	e := &operation.BusyError{Obstacle: o, Err: cause}
	if m := inTheWay.FindStringSubmatch(text); m != nil {
		e.Gives, e.Range = m[1] == "donating", sanitize.Truncate(m[2], rangeShown)
		e.NS, e.Shard = topology.Namespace(m[3]), m[4]
	}
	return e
}
