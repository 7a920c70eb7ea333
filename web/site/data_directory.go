package site

import (
	"net/http"

	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// Condition is that of the data directory; without one, all is well.
func (d StoreDeps) Condition() store.Condition {
	if d.Data == nil {
		return store.Condition{Hold: store.Owned}
	}
	return d.Data.Condition()
}

// leader is who leads. Without others it is the one that can write.
func (d StoreDeps) leader() store.Leader {
	if d.Leader == nil {
		return store.Leader{Here: d.Condition().Hold == store.Owned}
	}
	return d.Leader()
}

// WhyReadOnly says in a few words why nothing can be stored; "" when it can.
func (d StoreDeps) WhyReadOnly() string { return data.ReadOnlyReason(d.Condition()).String() }

// troubleNow is what is wrong with our own data; nil when nothing is known to be.
func (d StoreDeps) troubleNow() *store.Trouble {
	if d.Trouble == nil {
		return nil
	}
	return d.Trouble()
}

// mayTakeOver tells whether a page offers somebody to take the directory over.
func (s *Site) mayTakeOver(who auth.Principal) bool {
	return s.Deps.Store.Condition().Hold == store.OwnerGone && who.May(auth.Admin)
}

// dataDirectory is who owns the data directory.
func dataDirectory(s *Site, _ *http.Request) (api.DataDirectory, error) {
	return data.DataDirectoryState(s.Deps.Store.Condition(), s.Deps.Store.leader()), nil
}

// takeOver does what the button of the banner says, and answers with how it is afterwards: the directory is owned.
func takeOver(s *Site, r *http.Request, _ struct{}) (out api.DataDirectory, err error) {
	if s.Deps.Store.Data == nil {
		return out, fault.New(fault.Conflict, "This shardboard owns its data directory already.")
	}
	if err := s.Deps.Store.Data.TakeOver(r.Context(), auth.From(r.Context())); err != nil {
		return out, err
	}
	owned := store.Condition{Hold: store.Owned, Since: s.Deps.Now()}
	return data.DataDirectoryState(owned, store.Leader{Here: true}), nil
}
