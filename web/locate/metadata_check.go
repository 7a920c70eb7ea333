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

func (p metadataPage) operator() string { return auth.Operator.Label() }

// MetadataPage offers the server's own check of its metadata.
func MetadataPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	p := metadataPage{v: v, in: api.MetadataCheckStart{DB: r.URL.Query().Get("db"), NS: r.URL.Query().Get("ns")},
		may: auth.From(r.Context()).May(auth.Operator)}
	return site.WritePage(w, r, http.StatusOK, metadataWhole(s.Shell(r, v, "metadata", "Metadata check"), p))
}

// MetadataForm runs the check and shows what it found. It reads the cluster and changes nothing, so it needs no plan.
func MetadataForm(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	v, status := s.ViewFor(r), http.StatusOK
	p := metadataPage{v: v, in: api.MetadataCheckStart{DB: r.PostForm.Get("db"), NS: r.PostForm.Get("ns")}, may: true}
	found, err := data.CheckMetadata(r.Context(), v, s.Deps.Metadata, p.in)
	if err != nil {
		status, p.problem = fault.Of(err).HTTPStatus(), s.ProblemText(w, err)
	} else {
		p.result = &found
	}
	return site.WritePage(w, r, status, metadataWhole(s.Shell(r, v, "metadata", "Metadata check"), p))
}

// MetadataJSON runs the check and waits for the answer.
func MetadataJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.MetadataCheckStart
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	found, err := data.CheckMetadata(r.Context(), s.ViewFor(r), s.Deps.Metadata, in)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, found)
}
