package answer

import (
	"strings"

	"shardboard/internal/profile/propose"
	"shardboard/internal/sanitize"
)

// Proposer has the profile that was made for a cluster that fits none.
type Proposer interface {
	// Proposal is the newest one; false before it was made.
	Proposal() (propose.Proposal, bool)
}

// ProfileProposal is what the first page says of a cluster that fits no profile.
type ProfileProposal struct {
	Works   string // what works without a profile
	Making  bool   // the cluster is being read for it
	File    string // name of the profile's file; "" = nothing can be proposed
	Command string // that uses the file
	Reasons []string
	Unread  []string
	Words   ProposedWords
	Tenants []ProposedTenant
}

// ProposedWords are what the profile calls things.
type ProposedWords struct{ Tenant, Tenants, Documents string }

// ProposedTenant is one line of the preview.
type ProposedTenant struct {
	ID, Name string
	Holds    []string
}

const worksWithoutProfile = "Shards, collections, chunks, zones, the balancer, activity, problems and locating by collection " +
	"and shard key work as they are. Which rows belong to which tenant is said by a profile, and no profile fits this data yet."

// ProposalOf says what works and what is proposed; nil if a profile fits, or for a past time.
func ProposalOf(v View, p Proposer) *ProfileProposal {
	if p == nil || v.Past != nil || v.Profile == nil || !v.Table.Loaded || len(v.Profile.Match(v.Table)) > 0 {
		return nil
	}
	out := &ProfileProposal{Works: worksWithoutProfile}
	got, ok := p.Proposal()
	if !ok {
		out.Making = true
		return out
	}
	for _, s := range got.Reasons {
		out.Reasons = append(out.Reasons, sanitize.Sentence(s))
	}
	for _, s := range got.Unread {
		out.Unread = append(out.Unread, sanitize.Sentence(s))
	}
	if got.Profile == nil {
		return out
	}
	out.File = propose.FileName(got.Profile.Name)
	out.Command = "shardboard serve --uri-file uri.txt --profile " + out.File
	words := got.TenantWords()
	out.Words = ProposedWords{Tenant: words.One, Tenants: words.Many, Documents: got.Profile.DocumentWords().Many}
	for _, t := range got.Tenants {
		row := ProposedTenant{ID: t.IDText(), Name: sanitize.Line(t.Name)}
		for _, h := range t.Holds {
			row.Holds = append(row.Holds, sanitize.Line(h.Text()))
		}
		out.Tenants = append(out.Tenants, row)
	}
	return out
}

// Title is the heading of the section.
func (p ProfileProposal) Title() string {
	switch {
	case p.Making:
		return "No profile fits this data: one is being proposed"
	case p.File == "":
		return "No profile fits this data, and none can be proposed"
	}
	return "No profile fits this data: here is one"
}

// PreviewTitle is the heading of the tenants.
func (p ProfileProposal) PreviewTitle() string {
	return "Some of the " + strings.ToLower(p.Words.Tenants) + " by it, and what they hold"
}
