package changing

import (
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/message"
)

func TestUndoSaysOnceThatItIsImpossible(t *testing.T) {
	const why = "Cannot be undone: no command sets the flag."
	tests := []struct {
		undo api.Undo
		want string
	}{
		{api.Undo{Text: api.Timeless(message.New("x", why))}, why},
		{api.Undo{Text: api.Plain(why)}, why}, // as it is read from JSON
		{api.Undo{Text: api.Plain("The window is not known.")}, "It cannot be undone. The window is not known."},
		{api.Undo{Possible: true, Text: api.Plain("Merges the parts again.")}, "Merges the parts again."},
	}
	for _, x := range tests {
		got := UndoMessages(x.undo, time.Time{})
		expect.That(t, len(got) == 1 && got[0].String() == x.want, "%+v: got %q, expected only %q", x.undo, got, x.want)
	}
}

func TestAWholeCollectionIsNoRange(t *testing.T) {
	moves := []api.PlanMove{{NS: "a.b", Min: api.Key("null"), Max: api.Key("null"), To: "s"}} // as a client reads it
	if got := MovesText(moves); got != "The collection that moves" {
		t.Errorf("got %q", got)
	}
}
