package cluster

import (
	"errors"
	"strings"
	"testing"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
)

// Replies observed on MongoDB 5.0.7 unless noted.
func TestServerErrorsAreClassified(t *testing.T) {
	tests := []struct {
		code int
		text string
		want fault.Kind
	}{
		{0, "new split key { p: 1 } is a boundary key of existing chunk [{ p: 1 },{ p: MaxKey })", fault.Conflict},
		{0, "new split key { q: 1 } is not valid for shard key pattern { p: 1 }", fault.Invalid},
		{0, "no chunk found with the shard key bounds [{ p: 1 }, { p: 2 })", fault.NotFound},
		{0, "need to specify find/bounds or middle", fault.Invalid},
		{0, "cannot specify find and middle together", fault.Invalid},
		{0, "a text that nobody knows", fault.Internal},
		{2, "Could not meet precondition to split chunk: no chunk was found", fault.NotFound}, // 7.0
		{2, "something is wrong", fault.Invalid},
		{9, "Failed to commit chunk merge :: caused by :: min: { p: 2 } should be less than max: { p: 1 }", fault.Invalid},
		{13, "not authorized on admin to execute command { split: 1 }", fault.Forbidden},
		{20, "Failed to commit chunk merge :: caused by :: could not merge chunks, shard a does not contain a sequence of " +
			"chunks that exactly fills the range", fault.Conflict},
		{20, "shard-rs-2 is not in the correct zone z3", fault.Conflict},
		{20, "shard-rs-2 is currently draining.", fault.Conflict},
		{50, "split failed :: caused by :: operation exceeded time limit", fault.UnknownOutcome},
		{59, "no such cmd: moveRange", fault.NotFound},
		{61, "not the shard key", fault.Invalid},
		{70, "moveChunk destination shard does not exist", fault.NotFound},
		{72, "need to specify the desired max chunk size", fault.Conflict},
		{72, "there exists a field in the range not of type NumberLong", fault.Invalid},
		{87, "Unable to find median in chunk because chunk is indivisible.", fault.Conflict},
		{96, "moveChunk command failed on source shard. :: caused by :: InterruptedDueToReplStateChange", fault.UnknownOutcome},
		{96, "Data transfer error: migrate failed: Location51008: operation was interrupted", fault.Conflict},
		{96, "can't open a cursor to scan the range (desired range is possibly empty)", fault.Conflict},
		{117, "Unable to start new balancer operation because this shard is currently donating chunk", fault.Conflict},
		{118, "Collection a.b is not sharded.", fault.NotFound},
		{153, "Cannot move chunk: the maximum number of documents for a chunk is 2252", fault.Conflict},
		{163, "cannot remove a shard from zone if a chunk range is associated with it", fault.Conflict},
		{177, "zone za does not exist", fault.NotFound},
		{178, "Zone range is overlapping with existing", fault.Conflict},
		{72, "cannot use split with find or bounds option on an empty collection", fault.Conflict}, // 8.0
		{656451, "{ q: 1 } are not valid for shard key pattern { p: 1 }", fault.Invalid},           // 8.0
		{50, "Request 7 timed out, deadline was 1, op was cmd:{ middle: { p: \"no chunk found\" } }", fault.UnknownOutcome},
		{202, "Request 5 timed out", fault.UnknownOutcome},
		{265, "moved, but not cleaned up", fault.UnknownOutcome},
		{51261, "no chunk found with the shard key bounds", fault.NotFound},
		{99999, "from a later release", fault.Internal},
	}
	for _, tc := range tests {
		expect.Equal(t, (answer{tc.code, "", tc.text}).kind(), tc.want, "%d %q", tc.code, tc.text)
	}
}

func TestServerMessageIsKeptInFull(t *testing.T) {
	text := `Unable to start new balancer operation because this shard is currently donating chunk [{ _id: { id: UUID("0f800000-0000-0000-0000-000000000000") } }, { _id: { id: UUID("0fc00000-0000-0000-0000-000000000000") } }) for namespace config.system.sessions to shard-rs-2`
	err := (&Client{}).refusal(answer{codeConflictingOp, "", text}, errors.New(text), operation.Attempt{To: "move a chunk"})
	if want := `The cluster refused to move a chunk: "` + text + `".`; fault.Text(err) != want {
		t.Fatalf("%s", fault.Text(err))
	}
}

// A server's message may contain key values and host names. Users who may not see it
// get our sentence with the code.
func TestRefusalWithoutTheServersTextNamesItsCode(t *testing.T) {
	c := &Client{}
	for _, x := range []struct {
		a    answer
		want string
	}{
		{answer{117, "ConflictingOperationInProgress", "chunk {_id: 17} on host-3"},
			"The cluster refused to move the chunk: ConflictingOperationInProgress (117)."},
		{answer{117, "", "chunk {_id: 17} on host-3"}, "The cluster refused to move the chunk: error 117."},
		{answer{117, "{_id: 17} on host-3", "x"}, "The cluster refused to move the chunk: error 117."},
		{answer{0, "", "no chunk found at {_id: 17}"}, "The cluster refused to move the chunk."},
		{answer{8, "UnknownError", "{_id: 17}"}, "The cluster's answer to an attempt to move the chunk is not understood: UnknownError (8)."},
	} {
		err := c.refusal(x.a, errors.New("cause"), operation.Attempt{To: "move the chunk"})
		expect.Equal(t, fault.Brief(err), x.want, "%+v", x.a)
		expect.Contains(t, fault.Text(err), x.a.text, "%+v", x.a)
	}
	if got := fault.Brief(c.refusal(answer{91, "ShutdownInProgress", "host-3 is down"}, errors.New("cause"),
		operation.Attempt{To: "move the chunk"})); strings.Contains(got, "host-3") || !strings.Contains(got, "ShutdownInProgress (91)") {
		t.Error(got)
	}
}
