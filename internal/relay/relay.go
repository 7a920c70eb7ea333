// Package relay lets people do at every replica what only the leader can do: approve, run and stop
// plans, and start and stop surveys. The replica that they asked checks who they are and stores a request.
// The leader takes it, checks again who they are now, acts as if they had asked there, and stores the
// answer, which the replica returns as its own: the same run, or the same refusal.
//
// A request is taken once. If the leader that took it is gone, nobody does it again: the replica
// looks at what is stored to find out what became of it.
package relay

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const (
	// Wait is how long somebody waits for the leader. Making a run takes it 14 s at most, and a lost
	// leader is replaced within 11 s.
	Wait = 30 * time.Second
	poll = 250 * time.Millisecond
	last = 3 * time.Second // for withdrawing what was not answered
)

// Store is the part of a shared store that a relay uses.
type Store interface {
	store.Requests
	store.Leadership
}

// Accounts tells whether somebody is still who they were when they asked.
type Accounts interface {
	// Check fails with fault.Forbidden or fault.NotFound when a session, token or account has ended or been
	// disabled since, or has another role.
	Check(ctx context.Context, p auth.Principal) error
}

// Relay asks the leader, and answers while this process leads. Safe for concurrent use.
type Relay struct {
	store   Store // nil: not shared, this process does everything itself
	who     Accounts
	cluster func() string
	log     *slog.Logger
	answers map[string]handler // by what is asked
	waiting atomic.Int64       // of those who asked here
}

// handler does what somebody asks for.
type handler func(ctx context.Context, by auth.Principal, body []byte) (any, error)

// New makes a relay of a cluster. If the store is not shared, nothing is relayed.
func New(s store.Leadership, who Accounts, cluster func() string, log *slog.Logger) *Relay {
	r := &Relay{who: who, cluster: cluster, log: log, answers: map[string]handler{}}
	if shared, ok := s.(Store); ok && s.Leader().Shared {
		r.store = shared
	}
	return r
}

// Waiting is how many people wait here for the leader's answer.
func (r *Relay) Waiting() int { return int(r.waiting.Load()) }

// follows reports whether another process has to be asked.
func (r *Relay) follows() bool { return r.store != nil && !r.store.Leads() }

// mustAsk reports whether what was tried here failed because another process has begun to lead.
func (r *Relay) mustAsk(err error) bool { return r.store != nil && errors.Is(err, store.ErrNotLeading) }

// lostError says that a request was taken, and that it is not known from the answer what became of
// it.
type lostError struct {
	gone bool // the leader that took it is replaced, so it writes nothing any more
}

func (lostError) Error() string { return "the request was taken and not answered" }

var errNobodyLeads = fault.New(fault.Unavailable,
	"Nothing was started or changed: no shardboard leads at the moment, or the one that leads does not answer. Try again in some seconds.")

// ask asks the leader and waits for the answer.
func (r *Relay) ask(ctx context.Context, what string, by auth.Principal, body, into any) error {
	id := rand.Text()
	if err := r.add(ctx, id, what, by, body); err != nil {
		return err
	}
	r.waiting.Add(1)
	defer r.waiting.Add(-1)
	ctx, cancel := context.WithTimeout(ctx, Wait)
	defer cancel()
	for clock.Sleep(ctx, poll) == nil {
		s, err := r.store.RequestState(ctx, id)
		switch {
		case err != nil: // the store does not answer now
		case s.Answered:
			return decodeAnswer(s.Answer, into)
		case s.Term != 0 && s.Term < r.store.Leader().Term:
			return lostError{gone: true}
		}
	}
	return r.giveUp(context.WithoutCancel(ctx), id, into)
}

func (r *Relay) add(ctx context.Context, id, what string, by auth.Principal, body any) error {
	who, err := json.Marshal(by)
	if err != nil {
		return fmt.Errorf("encode principal: %w", err)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	return r.store.AddRequest(ctx, store.Request{ID: id, Cluster: r.cluster(), What: what, By: who, Body: text, Made: time.Now(),
		Within: Wait})
}

// giveUp withdraws a request that nobody has answered in time.
func (r *Relay) giveUp(ctx context.Context, id string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, last)
	defer cancel()
	if withdrawn, err := r.store.WithdrawRequest(ctx, id); err == nil && withdrawn {
		return errNobodyLeads
	}
	if s, err := r.store.RequestState(ctx, id); err == nil && s.Answered {
		return decodeAnswer(s.Answer, into)
	}
	return lostError{}
}

// unknown is the error of a lost request of which nothing is stored.
func (l lostError) unknown(gone, unsure string) error {
	if l.gone {
		return fault.Wrap(fault.Unavailable, l, "%s", gone)
	}
	return fault.Wrap(fault.UnknownOutcome, l, "%s", unsure)
}

func asLost(err error) (lostError, bool) {
	var l lostError
	ok := errors.As(err, &l)
	return l, ok
}
