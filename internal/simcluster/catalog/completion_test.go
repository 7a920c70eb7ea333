package catalog

import (
	"errors"
	"testing"
)

// The client that looks late sees both channels ready: chance must not choose what it gets.
func TestAnAnswerBeforeTheEndIsKeptAfterIt(t *testing.T) {
	cut := errors.New("cut")
	c := newCompletion()
	c.answer(cut)
	c.answer(errors.New("a second answer"))
	close(c.done)
	for range 100 {
		if err := c.wait(t.Context()); !errors.Is(err, cut) {
			t.Fatalf("answered %v", err)
		}
	}
}
