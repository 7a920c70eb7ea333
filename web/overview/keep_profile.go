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

// keep uses the proposed profile that a page showed: what is asked next is in its words.
func keep(s *site.Site, r *http.Request, in api.ProfileKeep) (out api.Profile, err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return out, err
	}
	c := s.Deps.Cluster
	switch {
	case c.Kept == nil:
		return out, errNoKept
	case answer.ProposalOf(v, c.Proposer, c.Kept) == nil:
		return out, errFits
	}
	out = api.Profile{Kept: true, Name: c.Profile.Name}
	if p, ok := c.Proposer.Proposal(); ok && p.Profile != nil {
		out.Name, out.Words = p.Profile.Name, wordsOf(p.Profile)
	}
	return out, c.Kept.Keep(r.Context(), site.AuditEntry(r), in.Hash)
}

// drop has the built-in profile used again.
func drop(s *site.Site, r *http.Request, _ struct{}) (api.Profile, error) {
	if s.Deps.Cluster.Kept == nil {
		return api.Profile{}, errNoKept
	}
	return api.Profile{Name: profile.Yorkie().Name}, s.Deps.Cluster.Kept.Drop(r.Context(), site.AuditEntry(r))
}

// toOverview is where both lead.
func toOverview(*http.Request, api.Profile) string { return "/" }

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
