package web

import (
	"context"
	"net/http"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/store"
	"shardboard/web/words"
)

// DataDirectory is where everything is stored: whether this process may write to
// it, and how it becomes the owner.
type DataDirectory interface {
	Condition() store.Condition
	// TakeOver makes this process the owner after the one before has ended, and
	// returns when pages are served by the owner. Errors: fault.Conflict (there is an
	// owner), Unavailable (lost, or not possible now).
	TakeOver(ctx context.Context, by auth.Principal) error
}

// condition is that of the data directory; without one, all is well.
func (s *Site) condition() store.Condition {
	if s.deps.Data == nil {
		return store.Condition{Hold: store.Owned}
	}
	return s.deps.Data.Condition()
}

// whyReadOnly says in a few words why nothing can be stored; "" when it can.
func (s *Site) whyReadOnly() string {
	if h := s.condition().Hold; h != store.Owned {
		return words.Code("act.why.data", string(h), nil)
	}
	return ""
}

// loginNote says on the way in why nobody can come in; "" when people can.
func (s *Site) loginNote(offers auth.Offers) string {
	h := s.condition().Hold
	if h == store.Owned && offers.ReadOnly {
		h = store.OwnedByAnother
	}
	if h == store.Owned {
		return ""
	}
	return words.Code("login.data", string(h), nil)
}

// dataBanner is what everybody must know about the data directory; "" when all
// is well.
func (s *Site) dataBanner() string {
	c := s.condition()
	if c.Hold == store.Owned {
		return ""
	}
	return words.Code("banner.data", string(c.Hold), map[string]string{"at": format.Clock(c.Since)})
}

// mayTakeOver tells whether a page offers somebody to take the directory over.
func (s *Site) mayTakeOver(who auth.Principal) bool {
	return s.condition().Hold == store.OwnerGone && who.May(auth.Admin)
}

func (s *Site) takeOver(r *http.Request) error {
	if s.deps.Data == nil {
		return fault.New(fault.Conflict, "This shardboard owns its data directory already.")
	}
	return s.deps.Data.TakeOver(r.Context(), auth.From(r.Context()))
}

// postTakeOver does what the button of the banner says.
func (s *Site) postTakeOver(w http.ResponseWriter, r *http.Request) error {
	if err := s.takeOver(r); err != nil {
		return err
	}
	seeOther(w, "/")
	return nil
}

func (s *Site) apiData(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, dataWire(s.condition()))
}

// apiTakeOver answers with how it is afterwards: the directory is owned.
func (s *Site) apiTakeOver(w http.ResponseWriter, r *http.Request) error {
	if err := s.takeOver(r); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, dataWire(store.Condition{Hold: store.Owned, Since: s.deps.Now()}))
}

func dataWire(c store.Condition) api.DataDirectory {
	out := api.DataDirectory{Hold: string(c.Hold), Writable: c.Hold == store.Owned, Since: api.Time(c.Since)}
	if c.Err != nil {
		out.Why = fault.Text(c.Err)
	}
	return out
}
