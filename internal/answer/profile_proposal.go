package answer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"shardboard/internal/profile/propose"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
)

// Proposer has the profile that was made for a cluster that fits none.
type Proposer interface {
	// Proposal is the newest one; false before it was made.
	Proposal() (propose.Proposal, bool)
}

// KeptProfile keeps a proposed profile for a cluster, which is used from then on. Errors are classified with fault.
type KeptProfile interface {
	// WhyNot says why no profile can be kept here; "" if one can.
	WhyNot() string
	// Using tells whether the profile in use was kept.
	Using() bool
	// Keep records who keeps the proposal with this hash, stores it, and has it used for the requests that come then.
	Keep(ctx context.Context, by store.AuditEntry, hash string) error
	// Drop likewise has the built-in profile used again.
	Drop(ctx context.Context, by store.AuditEntry) error
}

// ProposalHash is the SHA-256 of a profile's file in hex.
func ProposalHash(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

// ProfileProposal is what the first page says of a cluster that fits no profile.
type ProfileProposal struct {
	Works   string // what works without a profile
	Making  bool   // the cluster is being read for it
	File    string // name of the profile's file; "" = nothing can be proposed
	Command string // that uses the file
	Hash    string // of the file, by which it is kept
	Keeps   bool   // an admin can keep it here with one click
	WhyNot  string // why not; "" also where nothing is kept at all
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
func ProposalOf(v View, p Proposer, kept KeptProfile) *ProfileProposal {
	if p == nil || v.Past != nil || v.Profile == nil || !v.Table.IsRead() || len(v.Profile.Match(v.Table)) > 0 {
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
	out.Hash = ProposalHash(got.YAML())
	if kept != nil {
		out.WhyNot = kept.WhyNot()
		out.Keeps = out.WhyNot == ""
	}
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

// KeepTitle says what keeping it does.
func (p ProfileProposal) KeepTitle() string {
	return "Admins: the pages speak of " + strings.ToLower(p.Words.Tenants) + " and " + strings.ToLower(p.Words.Documents) +
		" at once, and after restarts."
}

// PreviewTitle is the heading of the tenants.
func (p ProfileProposal) PreviewTitle() string {
	return "Some of the " + strings.ToLower(p.Words.Tenants) + " by it, and what they hold"
}
