package relay

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const (
	atOnce    = 8 // requests
	dropEvery = 10 * time.Minute
)

// Serve answers requests while this process leads, until ctx ends.
func (r *Relay) Serve(ctx context.Context) error {
	if r.store == nil {
		<-ctx.Done()
		return nil
	}
	return r.store.Lead(ctx, r.lead)
}

func (r *Relay) lead(ctx context.Context) error {
	var working sync.WaitGroup
	defer working.Wait()
	slots := make(chan struct{}, atOnce)
	dropped, failed := time.Time{}, false
	for clock.Sleep(ctx, poll) == nil {
		if time.Since(dropped) > dropEvery {
			dropped = time.Now()
			if err := r.store.DropRequests(ctx, dropped.Add(-store.RequestKept)); err != nil && ctx.Err() == nil {
				r.log.Warn("delete old requests of replicas", "err", err)
			}
		}
		err := r.takeAll(ctx, slots, &working)
		if errors.Is(err, store.ErrNotLeading) {
			continue // ctx ends, too
		}
		if err != nil && !failed && ctx.Err() == nil {
			r.log.Warn("read what other replicas ask for", "err", err)
		}
		failed = err != nil
	}
	return nil
}

// takeAll takes the requests that wait now.
func (r *Relay) takeAll(ctx context.Context, slots chan struct{}, working *sync.WaitGroup) error {
	for r.cluster() != "" {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		req, err := r.store.TakeRequest(ctx, r.cluster())
		if err != nil {
			<-slots
			if fault.Of(err) == fault.NotFound {
				return nil
			}
			return err
		}
		working.Go(func() {
			defer func() { <-slots }()
			r.answer(ctx, req)
		})
	}
	return nil
}

// answer does what a request asks for and stores the answer. ctx is that of the lead: what is done
// with it is refused once another process leads.
func (r *Relay) answer(ctx context.Context, req store.Request) {
	doing, cancel := context.WithTimeout(ctx, Wait)
	defer cancel()
	result, err := r.do(doing, req)
	text, err := encodeAnswer(result, err)
	if err == nil {
		err = r.store.AnswerRequest(ctx, req.ID, text)
	}
	if err != nil && ctx.Err() == nil {
		r.log.Warn("answer what another replica asked for", "what", req.What, "err", err)
	}
}

func (r *Relay) do(ctx context.Context, req store.Request) (result any, err error) {
	defer func() {
		if defect := recover(); defect != nil {
			r.log.Error("a request of another replica panicked", "what", req.What, "defect", defect, "stack", string(debug.Stack()))
			err = errors.New("panic")
		}
	}()
	var by auth.Principal
	if err := json.Unmarshal(req.By, &by); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The request cannot be read.")
	}
	h := r.answers[req.What]
	if h == nil {
		return nil, fault.New(fault.Unavailable, "The shardboard that leads is of another version, which cannot do this. Upgrade all replicas.")
	}
	if err := r.still(ctx, by); err != nil {
		return nil, err
	}
	return h(ctx, by, req.Body)
}

// still checks who asked as if they asked now: a request may have waited, for a leader that was frozen.
func (r *Relay) still(ctx context.Context, by auth.Principal) error {
	err := r.who.Check(ctx, by)
	if kind := fault.Of(err); err != nil && (kind == fault.Forbidden || kind == fault.NotFound) {
		return fault.Wrap(fault.Forbidden, err, "Nothing was done: you were signed out, disabled or given another role while this waited.")
	}
	return err
}

// handle registers what the leader does for a request with a body of type B.
func handle[B any](r *Relay, what string, do func(ctx context.Context, by auth.Principal, body B) (any, error)) {
	r.answers[what] = func(ctx context.Context, by auth.Principal, text []byte) (any, error) {
		var body B
		if err := json.Unmarshal(text, &body); err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "The request cannot be read.")
		}
		if !by.May(auth.Operator) {
			return nil, fault.New(fault.Forbidden, "This needs the role %s.", auth.Operator)
		}
		return do(ctx, by, body)
	}
}
