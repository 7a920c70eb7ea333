package sqlite

import (
	"bytes"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/store/audit"
)

// A commit that returned an error may have taken effect. The table shows whether it did,
// and neither outcome is reported as a removed or inserted record.
func TestAnAuditCommitOfUnknownOutcomeIsSettledFromTheTable(t *testing.T) {
	at := func(seq int64) audit.Point {
		return audit.Point{Seq: seq, Hash: bytes.Repeat([]byte{byte(seq)}, 32)}
	}
	for name, c := range map[string]struct {
		table int64 // last record in the table after the failed commit of record 4
		seq   int64 // record that the next one follows
		prev  byte
	}{
		"took effect": {4, 4, 4}, "did not": {3, 3, 3}, "and 3 was deleted": {2, 3, 3}, "and 5 was put in": {5, 5, 3},
	} {
		p := at(4)
		w := written{known: true, end: at(3), pending: &p}
		w.commit(true)
		last, err := w.follow(at(c.table))
		expect.That(t, err == nil && last.Seq == c.seq && last.Hash[0] == c.prev && w.pending == nil && w.unsure == nil,
			"%s: %+v %v", name, last, err)
	}
	p := at(4)
	w := written{known: true, end: at(3), pending: &p}
	if w.commit(false); !w.end.Equal(at(4)) {
		t.Errorf("unexpected end of the record: %+v", w)
	}
}
