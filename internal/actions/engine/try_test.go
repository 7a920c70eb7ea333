package engine

import (
	"testing"

	"shardboard/internal/actions"
)

func TestAChangeIsRunningUntilItsRunHasEnded(t *testing.T) {
	pin := actions.Args{Project: "p", Shard: "a", Mode: actions.ModeMoves}
	x := &execution{run: Run{Kind: actions.Pin, Args: pin, State: Running}}
	e := &Engine{executions: map[string]*execution{"r": x}}
	is := func(k actions.Kind, a actions.Args) bool {
		_, open := e.running(k, a)
		return open
	}
	if !is(actions.Pin, pin) {
		t.Error("the same change is offered again while it runs")
	}
	other := pin
	other.Shard = "b"
	if is(actions.Pin, other) || is(actions.Isolate, pin) {
		t.Error("another change is taken for the running one")
	}
	x.run.State = Failed
	if is(actions.Pin, pin) {
		t.Error("a failed run makes its change still")
	}
}
