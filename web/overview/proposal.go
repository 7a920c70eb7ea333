package overview

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/profile/propose"
	"shardboard/web/site"
)

var errFits = fault.New(fault.NotFound, "Nothing is proposed: this data fits the profile in use.")

// ProfileFile is the proposed profile as the file that --profile reads.
func ProfileFile(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	if answer.ProposalOf(v, s.Deps.Cluster.Proposer, s.Deps.Cluster.Kept) == nil {
		return errFits
	}
	p, ok := s.Deps.Cluster.Proposer.Proposal()
	if !ok {
		return fault.New(fault.Unavailable, "The cluster is being read for a proposal. Try again in a minute.")
	}
	if err := p.Nothing(); err != nil {
		return err
	}
	w.Header().Set("Content-Type", site.MediaText+"; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+propose.FileName(p.Profile.Name)+`"`)
	_, err = w.Write(p.YAML())
	return err
}
