package relay

import (
	"encoding/json"
	"errors"
	"fmt"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
)

// answer is a result or an error, as it is stored.
type answer struct {
	Result json.RawMessage `json:",omitempty"`
	Error  *problem        `json:",omitempty"`
}

// problem is an error with everything that a page or the API shows of it, but not its cause, which is
// in the log of the leader.
type problem struct {
	Kind                       fault.Kind
	Title, Text, Brief, Advice string
	Changed                    *[]operation.Difference `json:",omitempty"`
	Blocked                    *[]actions.Check        `json:",omitempty"`
}

func encodeAnswer(result any, failed error) ([]byte, error) {
	var a answer
	if failed != nil {
		p := &problem{Kind: fault.Of(failed), Title: fault.Title(failed), Text: fault.Text(failed), Brief: fault.Brief(failed),
			Advice: fault.Advice(failed)}
		var changed *engine.ChangedError
		var blocked *engine.BlockedError
		switch {
		case errors.As(failed, &changed):
			p.Changed = &changed.Differences
		case errors.As(failed, &blocked):
			p.Blocked = &blocked.Checks
		}
		a.Error = p
		return json.Marshal(a)
	}
	text, err := json.Marshal(result)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	a.Result = text
	return json.Marshal(a)
}

func decodeAnswer(text []byte, into any) error {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	if p := a.Error; p != nil {
		err := &fault.Error{Kind: p.Kind, Title: p.Title, Text: p.Text, Brief: p.Brief, Advice: p.Advice}
		switch {
		case p.Changed != nil:
			return &engine.ChangedError{Differences: *p.Changed, Err: err}
		case p.Blocked != nil:
			return &engine.BlockedError{Checks: *p.Blocked, Err: err}
		}
		return err
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(a.Result, into); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	return nil
}
