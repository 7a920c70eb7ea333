package actions

import (
	"testing"

	"shardboard/internal/message"
)

func TestAnUndoSaysWhatItTakesBack(t *testing.T) {
	was := message.New("move", "Move {min} → {max} of {ns} from {shard} to {to}.", message.Namespace("ns", "db.<b>"),
		message.Key("min", "1"), message.Key("max", "2"), message.Shard("shard", "a"), message.Shard("to", "b"))
	for steps, want := range map[int]string{
		1: "Undo with one command: Move 1 → 2 of db.<b> from a to b.",
		3: "Undo with 3 commands: Move 1 → 2 of db.<b> from a to b.",
	} {
		if got := undoing(was, steps); got.String() != want || got.Args()["of"] != "move" || got.Args()["shard"] != "a" {
			t.Errorf("%d steps: %q %+v", steps, got, got.Args())
		}
	}
	if got := undoing(message.Message{Code: "split.at"}, 1).String(); got != "Undo with one command: split.at" {
		t.Errorf("of a run whose record has no words: %q", got)
	}
}
