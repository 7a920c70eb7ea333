package survey

import (
	"errors"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// outcome is how reading one collection ended, or when its last row was read. Stored as JSON.
type outcome struct {
	At      time.Time
	Reason  string // catalogue code; "" = no problem
	Problem string
}

// take stores a failure that concerns only this collection, so that the others are still measured;
// it returns any other error, which ends the survey.
func (o *outcome) take(r *reading, err error) error {
	if err == nil {
		o.At = r.now()
		return nil
	}
	var denied *topology.DeniedError
	switch {
	case errors.As(err, &denied), fault.Of(err) == fault.Forbidden:
		o.Reason = "notPermitted"
	case fault.Of(err) == fault.NotFound:
		o.Reason = "gone"
	case errors.Is(err, errSlow):
		o.Reason = "tooSlow"
	default:
		return err
	}
	o.At, o.Problem = r.now(), fault.Text(err)
	return nil
}

// collection makes the result of a collection, without its lines.
func (o *outcome) collection(t *topology.Table, of target, method string) Collection {
	c := Collection{NS: of.NS, Method: method, At: o.At, Reason: o.Reason, Problem: o.Problem}
	all := totals(t, of.NS)
	c.Rows, c.Bytes, c.Orphans = all.rows, all.bytes, all.orphans
	return c
}
