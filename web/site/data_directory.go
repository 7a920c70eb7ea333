package site

import (
	"net/http"

	"shardboard/internal/answer/data"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// DataCondition is that of the data directory; without one, all is well.
func (s *Site) DataCondition() store.Condition {
	if s.Deps.Store.Data == nil {
		return store.Condition{Hold: store.Owned}
	}
	return s.Deps.Store.Data.Condition()
}

// leader is who leads. Without others it is the one that can write.
func (s *Site) leader() store.Leader {
	if s.Deps.Store.Leader == nil {
		return store.Leader{Here: s.DataCondition().Hold == store.Owned}
	}
	return s.Deps.Store.Leader()
}

// WhyReadOnly says in a few words why nothing can be stored; "" when it can.
func (s *Site) WhyReadOnly() string { return data.ReadOnlyReason(s.DataCondition()).String() }

// mayTakeOver tells whether a page offers somebody to take the directory over.
func (s *Site) mayTakeOver(who auth.Principal) bool {
	return s.DataCondition().Hold == store.OwnerGone && who.May(auth.Admin)
}

func (s *Site) takeOver(r *http.Request) error {
	if s.Deps.Store.Data == nil {
		return fault.New(fault.Conflict, "This shardboard owns its data directory already.")
	}
	return s.Deps.Store.Data.TakeOver(r.Context(), auth.From(r.Context()))
}

// TakeOver does what the button of the banner says.
func (s *Site) TakeOver(w http.ResponseWriter, r *http.Request) error {
	if err := s.takeOver(r); err != nil {
		return err
	}
	SeeOther(w, "/")
	return nil
}

// DataDirectoryJSON is who owns the data directory.
func (s *Site) DataDirectoryJSON(w http.ResponseWriter, _ *http.Request) error {
	return WriteJSON(w, http.StatusOK, data.DataDirectoryState(s.DataCondition(), s.leader()))
}

// TakeOverJSON answers with how it is afterwards: the directory is owned.
func (s *Site) TakeOverJSON(w http.ResponseWriter, r *http.Request) error {
	if err := s.takeOver(r); err != nil {
		return err
	}
	owned := store.Condition{Hold: store.Owned, Since: s.Deps.Now()}
	return WriteJSON(w, http.StatusOK, data.DataDirectoryState(owned, store.Leader{Here: true}))
}
