package operation

import (
	"testing"

	"shardboard/internal/fixture/expect"
)

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
