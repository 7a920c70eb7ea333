package operation

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/balance"
	"shardboard/internal/fixture/expect"
)

// A refusal says what was tried and what privilege that needs.
func TestRefusalsNameThePrivilegeOfTheCommand(t *testing.T) {
	const documents, db = "yorkie-meta.documents", "yorkie-meta"
	split := bson.Raw{5, 0, 0, 0, 0}
	for _, x := range []struct {
		s       Step
		release balance.Release
		want    Attempt
	}{
		{Step{Op: OpSplitAt, NS: documents, At: split}, balance.Release{5}, Attempt{"split the chunk", "splitChunk on yorkie-meta.documents"}},
		{Step{Op: OpMovePrimary, DB: db}, balance.Release{5}, Attempt{"move the primary of the database", "moveChunk on yorkie-meta"}},
		{Step{Op: OpRemoveShard}, balance.Release{5}, Attempt{"remove the shard", "removeShard on the cluster"}},
		{Step{Op: OpBalancerWindow}, balance.Release{8, 3}, Attempt{"set the balancing window", "update and insert on config.settings"}},
		{Step{Op: OpRemoveZone}, balance.Release{5},
			Attempt{"remove the shard from the zone", "update on config.shards and find on config.tags"}},
		{Step{Op: OpSetRange, NS: documents, Min: split, Max: split}, balance.Release{5},
			Attempt{"set the zone range", "find on config.shards, and find, update and remove on config.tags"}},
		{Step{Op: OpBalancing, NS: documents}, balance.Release{8, 0, 9},
			Attempt{"switch balancing of the collection", "update on config.collections"}},
		{Step{Op: OpBalancing, NS: documents}, balance.Release{8, 0, 10},
			Attempt{"switch balancing of the collection", "splitChunk and moveChunk on yorkie-meta.documents"}},
	} {
		cmd, err := x.s.Command(x.release)
		if got := x.s.attempt(cmd); err != nil || got != x.want {
			t.Errorf("%s of %v: %+v, want %+v (%v)", x.s.Op, x.release, got, x.want, err)
		}
	}
}

// Every row has what is asked of it for each step that is sent.
func TestEveryRowIsComplete(t *testing.T) {
	for _, row := range table() {
		s := Step{Op: row.op}
		if row.command != nil && (row.does == "" || row.title == nil || len(row.grants(latest)) == 0 || s.TimeLimit() <= 0) {
			t.Errorf("%s: %+v", row.op, row)
		}
	}
}

func TestChunkSizeOfAFactIsRead(t *testing.T) {
	for bytes, want := range map[int64]int{0: 0, 1 << 20: 1, 64 << 20: 64, 1 << 30: 1024, 1<<20 + 1: -1, 1 << 31: -1} {
		got, ok := chunkMB(chunkSizeText(bytes))
		if !ok {
			got = -1
		}
		expect.Equal(t, got, want, "%d as %q", bytes, chunkSizeText(bytes))
	}
}

func TestAnotherRecipientKeepsNothingThatIsPermanentlyBlocked(t *testing.T) {
	s := Step{Op: OpMove, Shard: "a", Others: []string{"b", "c"}}
	for _, test := range []struct {
		to      string
		lasting bool
		want    []string
	}{{"b", false, []string{"b", "c", "a"}}, {"c", true, []string{"c", "b"}}} {
		expect.EqualSlices(t, s.To(test.to, test.lasting).Recipients(), test.want, "to %s", test.to)
	}
	expect.EqualSlices(t, s.Others, []string{"b", "c"}, "the step itself changed")
}

func TestTheProgressOfAReshardingIsToldAsTheServerEstimatesIt(t *testing.T) {
	// Recorded on 5.0.7: one recipient has copied more than its even part.
	r := Resharding{Shards: []ReshardingShard{
		{Shard: "a", Donor: "donating-initial-data", Recipient: "cloning", Documents: 135, DocumentsEstimate: 82, Bytes: 14354,
			BytesEstimate: 8714},
		{Shard: "b", Recipient: "cloning", Documents: 21, DocumentsEstimate: 82, Bytes: 2226, BytesEstimate: 8714, Left: 2},
		{Shard: "c", Donor: "donating-initial-data", Left: -1},
	}}
	if n, of, bytes, ofBytes := r.Copied(); n != 156 || of != 164 || bytes != 16580 || ofBytes != 17428 || r.Left() != 2 {
		t.Errorf("%d of %d, %d of %d, %d s left", n, of, bytes, ofBytes, r.Left())
	}
	r.Shards[0].Left = -1
	expect.Equal(t, r.Left(), -1, "a time that one recipient does not know is known")
}
