package cluster

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
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
	must.That(t, fault.Text(err) == `The cluster refused to move a chunk: "`+text+`".`, "%s", fault.Text(err))
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

// testdata/refusals.jsonl.gz has the distinct error replies that a real 5.0.7 and a real 8.0.10 gave to the commands
// that we send, each with what it means for the cluster, judged by what the cluster had afterwards. A row that none of
// them matches says where it is known from.
func TestRecordedRefusalsAreUnderstood(t *testing.T) {
	file := must.Get(os.Open("testdata/refusals.jsonl.gz"))
	defer file.Close()
	plain := must.Get(gzip.NewReader(file))
	releases, recorded := map[string]int{}, map[*refusal]bool{}
	for lines := bufio.NewScanner(plain); lines.Scan(); {
		var r struct {
			Release, Command, Name, Text, Kind, Busy string
			Code                                     int
		}
		must.Do(t, json.Unmarshal(lines.Bytes(), &r))
		releases[r.Release]++
		a := answer{r.Code, r.Name, r.Text}
		expect.Equal(t, a.kind().String(), r.Kind, "%s: %s was answered %d %q", r.Release, r.Command, r.Code, r.Text)
		busy := operation.Obstacle("")
		if row := a.row(); row != nil {
			busy, recorded[row] = row.busy, true
		}
		expect.Equal(t, string(busy), r.Busy,
			"%s: %s was answered %d %q: obstacle %q", r.Release, r.Command, r.Code, r.Text, busy)
	}
	for i := range refusals {
		if r := &refusals[i]; recorded[r] != (r.from == "") {
			t.Errorf("the row of %v %q is recorded: %t, and known from %q", r.codes, r.text, recorded[r], r.from)
		}
	}
	must.That(t, releases["5.0.7"] >= 30 && releases["8.0.10"] >= 40, "recorded refusals by release: %v", releases)
}

func TestAMoveInTheWayIsNamedInTheWordsOfEachRelease(t *testing.T) {
	for _, text := range []string{
		"Unable to start new balancer operation because this shard is currently donating chunk [{ p: 1 }, { p: 2 }) for namespace a.b to s-2",
		"Command request failed on source shard. :: caused by :: Unable to start new balancer operation because this shard is " +
			"currently donating range 'min: { p: 1 } - max: { p: 2 }' for namespace a.b to shard s-2",
	} {
		err, ok := busyError(operation.ObstacleMigration, text, fault.New(fault.Conflict, "refused")).(*operation.BusyError)
		expect.That(t, ok && err.NS == "a.b" && err.Shard == "s-2", "%q: got %+v", text, err)
	}
}

func TestEveryConnectionErrorHasARemedy(t *testing.T) {
	for text, want := range map[string]string{
		"dial tcp: lookup no-such-host.invalid on 10.0.0.1:53: no such host":               "Correct the host",
		"tls: failed to verify certificate: x509: certificate signed by unknown authority": "tlsCAFile",
		"x509: certificate is valid for a.example, not b.example":                          "another name",
		"x509: certificate has expired or is not yet valid":                                "has expired",
		"remote error: tls: certificate required":                                          "tlsCertificateKeyFile",
		"dial tcp 10.0.0.1:27017: i/o timeout":                                             "firewall",
		"dial tcp 10.0.0.1:27017: connect: no route to host":                               "no way to that machine",
		"Last error: dial tcp 127.0.0.1:1: connect: connection refused":                    "Nothing listens there",
		"connection(127.0.0.1:7[-14]) length of read message too large":                    "no MongoDB server",
		"tls: first record does not look like a TLS handshake":                             "does not speak it",
		"incomplete read of message header: context deadline exceeded: client timed out":   "is frozen",
		"failed to write: write tcp 127.0.0.1:5->127.0.0.1:6: write: broken pipe":          "may want TLS",
		"failed to set read deadline: io: read/write on closed pipe":                       "may want TLS",
		"Last error: EOF": "may want TLS",
		"something new":   "Look whether the mongos runs",
	} {
		expect.Contains(t, connectAdvice(text, false), want, "%s", text)
	}
	expect.Contains(t, connectAdvice("Last error: EOF", true), "when TLS begins", "the text")
}
