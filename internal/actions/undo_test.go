package actions

import (
	"testing"

	"shardboard/internal/message"
)

func TestUndoSummaryNamesTheUndoneChange(t *testing.T) {
	was := message.New("move", "Move {min} → {max} of {ns} from {shard} to {to}.", message.Namespace("ns", "db.<b>"),
		message.Key("min", "1"), message.Key("max", "2"), message.Shard("shard", "a"), message.Shard("to", "b"))
	got := undoSummary(was)
	if got.String() != "Undo: move 1 → 2 of db.<b> from a to b." || got.Args()["of"] != "move" || got.Args()["shard"] != "a" {
		t.Errorf("%q %+v", got, got.Args())
	}
	if got := undoSummary(message.Message{Code: "split.at"}).String(); got != "Undo: split.at" {
		t.Errorf("of a run whose record has no text: %q", got)
	}
}
