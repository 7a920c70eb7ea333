package overview

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/profile"
	"shardboard/web/site"
)

// errNoKept is for a server that stores no profile.
var errNoKept = fault.New(fault.Conflict, "No profile can be kept here.")

// KeepForm keeps the proposed profile that a page showed: the pages that are asked for next are in its words.
func KeepForm(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	if err := keep(s, r, r.PostForm.Get("hash")); err != nil {
		return err
	}
	site.SeeOther(w, "/")
	return nil
}

// KeepJSON keeps the proposed profile with a hash.
func KeepJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.ProfileKeep
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	proposed, err := profileNow(s, r)
	if err != nil {
		return err
	}
	if err := keep(s, r, in.Hash); err != nil {
		return err
	}
	out := api.Profile{Kept: true, Name: proposed.Name}
	if p, ok := s.Deps.Cluster.Proposer.Proposal(); ok && p.Profile != nil {
		out.Name, out.Words = p.Profile.Name, wordsOf(p.Profile)
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

func keep(s *site.Site, r *http.Request, hash string) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	switch {
	case s.Deps.Cluster.Kept == nil:
		return errNoKept
	case answer.ProposalOf(v, s.Deps.Cluster.Proposer, s.Deps.Cluster.Kept) == nil:
		return errFits
	}
	return s.Deps.Cluster.Kept.Keep(r.Context(), site.AuditEntry(r), hash)
}

// DropForm has the built-in profile used again.
func DropForm(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := drop(s, r); err != nil {
		return err
	}
	site.SeeOther(w, "/")
	return nil
}

// DropJSON has the built-in profile used again.
func DropJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := drop(s, r); err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, api.Profile{Name: "yorkie"})
}

func drop(s *site.Site, r *http.Request) error {
	if s.Deps.Cluster.Kept == nil {
		return errNoKept
	}
	return s.Deps.Cluster.Kept.Drop(r.Context(), site.AuditEntry(r))
}

func wordsOf(p *profile.Profile) api.ProfileWords {
	return api.ProfileWords{Tenant: p.Tenants.One, Tenants: p.Tenants.Many, Document: p.Called.One, Documents: p.Called.Many}
}

// profileNow is the profile in use and the one that is proposed.
func profileNow(s *site.Site, r *http.Request) (out api.Profile, err error) {
	v, err := s.Loaded(r)
	if err != nil {
		return out, err
	}
	out.Name, out.WhyNot, out.Words = s.Deps.Cluster.Profile.Name, fault.Text(errNoKept), wordsOf(s.Deps.Cluster.Profile)
	if k := s.Deps.Cluster.Kept; k != nil {
		out.Kept, out.WhyNot = k.Using(), k.WhyNot()
	}
	shown := answer.ProposalOf(v, s.Deps.Cluster.Proposer, s.Deps.Cluster.Kept)
	if shown == nil || shown.File == "" {
		return out, nil
	}
	if p, ok := s.Deps.Cluster.Proposer.Proposal(); ok && p.Profile != nil {
		out.Proposed = &api.ProposedProfile{File: shown.File, Hash: shown.Hash, YAML: string(p.YAML()),
			Reasons: append([]string{}, shown.Reasons...), Unread: append([]string{}, shown.Unread...)}
	}
	return out, nil
}
