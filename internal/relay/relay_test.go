package relay

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/store/mongodb"
)

// directory is who still is who they were.
type directory struct{ gone atomic.Bool }

func (d *directory) Check(context.Context, auth.Principal) error {
	if d.gone.Load() {
		return auth.ErrNobody
	}
	return nil
}

// A request is checked again when the leader takes it: whoever asked may have lost account or role meanwhile.
func TestRequestsAreCheckedAgainWhenTheyAreDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := must.Get(simcluster.New(t.Context(), simcluster.Options{Empty: true, Still: true}))
		t.Cleanup(func() { _ = c.Close() })
		at := must.Get(mongodb.ParseAddress(strings.Replace(simcluster.URI(), "/?", "/relayed?", 1)))
		var relays [2]*Relay
		var people directory
		done := 0
		for i := range relays {
			db, err := mongodb.Open(t.Context(), at, mongodb.Options{Dialer: c})
			must.Do(t, err)
			t.Cleanup(func() { _ = db.Close() })
			relays[i] = New(db, &people, func() string { return "c" }, slog.New(slog.DiscardHandler))
			handle(relays[i], "count", func(context.Context, auth.Principal, int) (any, error) { done++; return done, nil })
		}
		anna := auth.Principal{ID: "user:anna", Role: auth.Operator, Method: auth.ByPassword, Session: "s"}
		asked := make(chan error)
		ask := func() { var n int; asked <- relays[1].ask(t.Context(), "count", anna, 1, &n) }
		go ask()
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = relays[0].Serve(ctx) }()
		if err := <-asked; err != nil || done != 1 {
			t.Fatalf("done %d times: %v", done, err)
		}
		stop() // the leader is frozen while it is asked
		synctest.Wait()
		go ask()
		synctest.Wait()
		people.gone.Store(true)
		ctx, stop = context.WithCancel(t.Context())
		defer stop()
		go func() { _ = relays[0].Serve(ctx) }()
		if err := <-asked; fault.Of(err) != fault.Forbidden || done != 1 {
			t.Errorf("done %d times: %v", done, err)
		}
	})
}

// What a page says of an error is the same wherever it came from.
func TestAnErrorKeepsItsWordsOnTheWay(t *testing.T) {
	err := fault.Wrap(fault.Conflict, &fault.Error{Title: "Not loaded", Advice: "Give it more memory."}, "It says %q.", "E11000")
	text, failed := encodeAnswer(nil, err)
	must.Do(t, failed)
	got := decodeAnswer(text, nil)
	for _, of := range []func(error) string{fault.Title, fault.Text, fault.Brief, fault.Advice} {
		if of(got) != of(err) || of(err) == "" {
			t.Errorf("%q instead of %q", of(got), of(err))
		}
	}
	expect.Equal(t, fault.Of(got), fault.Conflict, "it is of another kind")
}
