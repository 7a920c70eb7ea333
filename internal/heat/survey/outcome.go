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
func (o *outcome) take(r *Reader, err error) error {
	if err == nil {
		o.At = r.now()
		return nil
	}
	reason := ReasonOf(err)
	if reason == "" {
		return err
	}
	o.At, o.Reason, o.Problem = r.now(), reason, fault.Text(err)
	return nil
}

// ReasonOf is why one collection cannot be read (catalogue code); "" for a failure that concerns
// the others too.
func ReasonOf(err error) string {
	var denied *topology.DeniedError
	switch {
	case errors.As(err, &denied), fault.Of(err) == fault.Forbidden:
		return "notPermitted"
	case fault.Of(err) == fault.NotFound:
		return "gone"
	case errors.Is(err, errSlow):
		return "tooSlow"
	}
	return ""
}

// collection makes the result of a collection, without its lines.
func (o *outcome) collection(t *topology.Table, of Target, method string) Collection {
	c := Collection{NS: of.NS, Method: method, At: o.At, Reason: o.Reason, Problem: o.Problem}
	all := TotalOf(t, of.NS)
	c.Rows, c.Bytes, c.Orphans = all.Rows, all.Bytes, all.Orphans
	return c
}
