package actions

import (
	"testing"

	"shardboard/internal/message"
)

func TestUndoSummaryNamesTheUndoneChange(t *testing.T) {
	was := message.New("move", "Move {min} → {max} of {ns} from {shard} to {to}.", message.Namespace("ns", "db.<b>"),
		message.Key("min", "1"), message.Key("max", "2"), message.Shard("shard", "a"), message.Shard("to", "b"))
	got := (&draftBuilder{}).undoTitle(was)
	if got.String() != "Undo: move 1 → 2 of db.<b> back from b to a." || got.Args()["of"] != "move" || got.Args()["shard"] != "a" {
		t.Errorf("%q %+v", got, got.Args())
	}
	if got := undoSummary(message.Message{Code: "split.at"}).String(); got != "Undo: split.at" {
		t.Errorf("of a run whose record has no text: %q", got)
	}
}

// What does not name two shards says where the moves of the undo go.
func TestUndoTitlesSayFromWhereToWhere(t *testing.T) {
	pin := message.New("pin", "Pin the project {project} to {shard}.", message.Text("project", "p"), message.Shard("shard", "rs-2"))
	for _, x := range []struct {
		moves []transfer
		want  string
	}{
		{nil, "Undo: pin the project p to rs-2."},
		{[]transfer{{from: "rs-2", to: "rs-10"}, {from: "rs-2", to: "rs-1"}},
			"Undo: pin the project p to rs-2; data goes back from rs-2 to rs-1, rs-10."},
		{[]transfer{{from: "a", to: "x"}, {from: "b", to: "x"}, {from: "c", to: "x"}, {from: "d", to: "x"}},
			"Undo: pin the project p to rs-2; data goes back from 4 shards to x."},
	} {
		d := &draftBuilder{}
		d.moves = x.moves
		if got := d.undoTitle(pin).String(); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}
