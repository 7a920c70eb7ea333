package site

import (
	"net/http"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/store"
)

// condition is that of the data directory; without one, all is well.
func (s *Site) condition() store.Condition {
	if s.Deps.Data == nil {
		return store.Condition{Hold: store.Owned}
	}
	return s.Deps.Data.Condition()
}

// whyReadOnly says in a few words why nothing can be stored; "" when it can.
func (s *Site) WhyReadOnly() string {
	if h := s.condition().Hold; h != store.Owned {
		return holdText(whyReadOnly, h)
	}
	return ""
}

// loginNote says on the way in why nobody can come in; "" when people can.
func (s *Site) LoginNote(offers auth.Offers) string {
	h := s.condition().Hold
	if h == store.Owned && offers.ReadOnly {
		h = store.OwnedByAnother
	}
	if h == store.Owned {
		return ""
	}
	return holdText(nobodySignsIn, h)
}

// dataBanner is what everybody must know about the data directory; "" when all
// is well.
func (s *Site) dataBanner() string {
	c := s.condition()
	if c.Hold == store.Owned {
		return ""
	}
	return strings.ReplaceAll(holdText(dataBanners, c.Hold), "{at}", format.Clock(c.Since))
}

// mayTakeOver tells whether a page offers somebody to take the directory over.
func (s *Site) mayTakeOver(who auth.Principal) bool {
	return s.condition().Hold == store.OwnerGone && who.May(auth.Admin)
}

func (s *Site) takeOver(r *http.Request) error {
	if s.Deps.Data == nil {
		return fault.New(fault.Conflict, "This shardboard owns its data directory already.")
	}
	return s.Deps.Data.TakeOver(r.Context(), auth.From(r.Context()))
}

// postTakeOver does what the button of the banner says.
func (s *Site) PostTakeOver(w http.ResponseWriter, r *http.Request) error {
	if err := s.takeOver(r); err != nil {
		return err
	}
	SeeOther(w, "/")
	return nil
}

func (s *Site) ApiData(w http.ResponseWriter, _ *http.Request) error {
	return WriteJSON(w, http.StatusOK, answer.DataWire(s.condition()))
}

// apiTakeOver answers with how it is afterwards: the directory is owned.
func (s *Site) ApiTakeOver(w http.ResponseWriter, r *http.Request) error {
	if err := s.takeOver(r); err != nil {
		return err
	}
	return WriteJSON(w, http.StatusOK, answer.DataWire(store.Condition{Hold: store.Owned, Since: s.Deps.Now()}))
}
