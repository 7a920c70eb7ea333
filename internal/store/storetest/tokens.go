package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

func token(id, owner string) store.Token {
	return store.Token{ID: id, Hash: []byte("hash of " + id), Name: "ci", Role: "viewer", Owner: owner, Created: begin(),
		Expires: begin().Add(time.Hour)}
}

func tokens(t *testing.T, open func(*testing.T) store.Store) {
	ctx, s := t.Context(), open(t)
	want, other := token("a", "user:1"), token("b", "user:2")
	other.Created = begin().Add(time.Second)
	other.Clusters, other.OwnerRole, other.OwnerGroups = map[string]string{"prod": "operator"}, "viewer", []string{"sre", "a\"b"}
	must.Do(t, s.CreateToken(ctx, want, entry("token.created")))
	must.Do(t, s.CreateToken(ctx, other, entry("token.created")))
	for what, find := range map[string]func() (store.Token, error){
		"id":   func() (store.Token, error) { return s.Token(ctx, "a") },
		"hash": func() (store.Token, error) { return s.TokenByHash(ctx, want.Hash) },
	} {
		if got, err := find(); err != nil || !cmp.Equal(got, want) {
			t.Errorf("by %s: %+v, %v", what, got, err)
		}
	}
	for owner, want := range map[string][]store.Token{"user:1": {want}, "": {other, want}, "user:3": nil} {
		got := must.Get(s.Tokens(ctx, owner))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("of %q: %s", owner, diff)
		}
	}
	must.Do(t, s.TouchToken(ctx, "a", begin().Add(time.Minute)))
	must.Do(t, s.RevokeToken(ctx, "a", begin().Add(2*time.Minute), entry("token.revoked")))
	want.Used, want.Revoked = begin().Add(time.Minute), begin().Add(2*time.Minute)
	if got, err := s.TokenByHash(ctx, want.Hash); err != nil || !cmp.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	wants(t, "revoked already", s.RevokeToken(ctx, "a", begin(), entry("token.revoked")), fault.Conflict)
	wants(t, "no token", s.RevokeToken(ctx, "c", begin(), entry("token.revoked")), fault.NotFound)
	wants(t, "no token", must.Err(s.Token(ctx, "c")), fault.NotFound)
	expect.Equal(t, recorded(t, s, "token.revoked"), 1, "entries recorded")
}
