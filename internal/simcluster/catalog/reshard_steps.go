package catalog

import (
	"context"
	"errors"

	"shardboard/internal/simcluster/engine/status"
)

// stepOfState is the step at which the hook is called in a state of a resharding.
var stepOfState = map[string]Step{"cloning": Cloning, "applying": Cloned, "blocking-writes": Critical}

// atStep calls the hook for a resharding; an error ends it without a change. A step-down
// does not: the coordinator and the shards keep their state on disk, and the next primary
// goes on. Only who waits for an answer gets an error. Mu is not held.
func (o *resharding) atStep(life context.Context, step Step) error {
	if step == "" {
		return nil
	}
	err := o.c.atStep(valuesContext{life, o.asked}, Point{Command: o.command, Step: step, NS: o.ns, To: o.to, Answer: o.answer})
	var down *SteppedDown
	if errors.As(err, &down) {
		o.answer(status.Errorf(status.InterruptedByStepDown, "%s", down.Error()))
		return nil
	}
	return err
}

// answer returns an error to all waiting clients while the operation goes on.
func (o *resharding) answer(err error) {
	o.answered.Do(func() {
		o.earlyErr = err
		close(o.early)
	})
}
