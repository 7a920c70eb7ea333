package actions_test

import (
	"strings"
	"testing"

	"shardboard/internal/actions/operation"
)

func TestWhatChangedIsToldInASentence(t *testing.T) {
	chunk := operation.Fact{Kind: operation.FactChunk, NS: "db.c"}
	for _, x := range []struct {
		d    operation.Difference
		says string
	}{
		{operation.Difference{Fact: chunk, Field: "exists", Want: "true", Got: "false"}, "of db.c no longer exists."},
		{operation.Difference{Fact: chunk, Field: "exists", Want: "true"}, "of db.c no longer exists."},
		{operation.Difference{Fact: operation.Fact{Kind: operation.FactEdge, NS: "db.c"}, Field: "exists", Want: "false", Got: "true"},
			"of db.c exists now."},
		{operation.Difference{Fact: chunk, Field: "shard", Want: "a", Got: "b"}, "shard: expected a, found b."},
		{operation.Difference{Field: "hash", Want: "abc", Got: "000"}, "hash is abc, but 000 was given"},
		{operation.Difference{Field: "hash", Want: "abc"}, "none was given"},
		{operation.Difference{Field: "clusterId", Want: "abc", Got: "def"}, "for the cluster abc, but the cluster def answers"},
		{operation.Difference{Field: "expiresAt", Want: "10:00", Got: "11:00"}, "expired at 10:00; it is now 11:00"},
		{operation.Difference{Field: "command", Want: "{a}", Got: "{b}"}, "{a} would now be {b}"},
		{operation.Difference{Field: "command", Want: "{a}"}, "{a} would no longer be sent"},
		{operation.Difference{Field: "command", Got: "{b}"}, "{b} would now be sent"},
	} {
		if got := x.d.Text().String(); !strings.Contains(got, x.says) || strings.HasPrefix(got, ":") || strings.Contains(got, "there: expected") {
			t.Errorf("%+v: %q, want %q", x.d, got, x.says)
		}
	}
	if got := operation.FieldText("exists", "true") + operation.FieldText("exists", "false"); strings.Contains(got, "true") ||
		strings.Contains(got, "false") {
		t.Errorf("%q", got)
	}
}
