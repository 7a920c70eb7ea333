package locate

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

type metadataPage struct {
	v       answer.View
	in      api.MetadataCheckStart
	result  *api.MetadataCheck // nil: nothing was asked, or it failed
	problem string
	may     bool // the visitor may start the check
}

// withoutCheck tells that the cluster's release has no such check.
func (p metadataPage) withoutCheck() bool {
	release := balance.ReleaseOf(p.v.Table.ServerInfo.Version)
	return release.Known() && !release.AtLeast(7, 0, 0)
}

func (p metadataPage) release() string { return p.v.Table.ServerInfo.Release() }

// MetadataPage offers the server's own check of its metadata.
func MetadataPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	p := metadataPage{v: v, in: api.MetadataCheckStart{DB: r.URL.Query().Get("db"), NS: r.URL.Query().Get("ns")},
		may: auth.From(r.Context()).May(auth.Operator)}
	return site.WritePage(w, r, http.StatusOK, metadataWhole(s.Shell(r, v, "metadata", "Metadata check"), p))
}

// checkMetadata runs the check and waits for the answer. It reads the cluster and changes nothing, so it needs no plan.
func checkMetadata(s *site.Site, r *http.Request, in api.MetadataCheckStart) (api.MetadataCheck, error) {
	return data.CheckMetadata(r.Context(), s.ViewFor(r), s.Deps.Locate.Metadata, in)
}

// showMetadataCheck shows what the check found.
func showMetadataCheck(s *site.Site, w http.ResponseWriter, r *http.Request, in api.MetadataCheckStart, found api.MetadataCheck) error {
	return writeMetadataCheck(s, w, r, http.StatusOK, metadataPage{in: in, result: &found})
}

// refuseMetadataCheck shows why nothing was found.
func refuseMetadataCheck(s *site.Site, w http.ResponseWriter, r *http.Request, in api.MetadataCheckStart, err error) error {
	return writeMetadataCheck(s, w, r, fault.Of(err).HTTPStatus(), metadataPage{in: in, problem: s.ProblemText(w, err)})
}

func writeMetadataCheck(s *site.Site, w http.ResponseWriter, r *http.Request, status int, p metadataPage) error {
	p.v, p.may = s.ViewFor(r), true
	return site.WritePage(w, r, status, metadataWhole(s.Shell(r, p.v, "metadata", "Metadata check"), p))
}
