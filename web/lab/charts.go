package lab

import (
	"net/http"
	"net/url"
	"strings"

	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// chartRoutes are the pictures of the lab as files.
var chartRoutes = []site.Routed{
	site.Page(site.Route{Pattern: "/lab/keys.svg", Summary: "The part of the data that each shard has with each key, as a picture",
		Types: []string{mediaSVG}, Params: ofKeys, Handler: keysChart}),
	site.Page(site.Route{Pattern: "/lab/ids.svg", Summary: "The shards on which new rows land with one kind of id, as a picture",
		Types:   []string{mediaSVG},
		Params:  append(site.Takes[trying.LabIDsQuery](), site.Query("kind", "as the answer names it; default the first")),
		Handler: idsChart}),
	site.Page(site.Route{Pattern: "/lab/growth.svg", Summary: "What each shard has before, after the moves and grown, as a picture",
		Types: []string{mediaSVG}, Time: site.NowOnly, Params: site.Takes[trying.GrowthQuery](), Handler: growthChart}),
}

func keysChart(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	a, err := keysOf(s, r)
	if err != nil {
		return err
	}
	return writePicture(w, "keys.svg", trying.LabKeysChart(a))
}

func idsChart(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	a, err := idsOf(s, r)
	if err != nil {
		return err
	}
	svg, err := trying.LabIDsChart(a, r.URL.Query().Get("kind"))
	if err != nil {
		return err
	}
	return writePicture(w, "ids.svg", svg)
}

func growthChart(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	a, err := growthAnswer(s, r)
	if err != nil {
		return err
	}
	return writePicture(w, "growth.svg", trying.LabGrowthChart(a))
}

func writePicture(w http.ResponseWriter, name, svg string) error {
	w.Header().Set("Content-Type", mediaSVG)
	w.Header().Set("Content-Disposition", `inline; filename="`+name+`"`)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte(svg)) // the browser is gone; nobody is left to tell
	return nil
}

// pictureOf is the address of the picture of what a page shows.
func pictureOf(page string) string {
	path, query, _ := strings.Cut(page, "?")
	return path + ".svg?" + query
}

// idsFile is the address of the picture of one kind of id.
func idsFile(a *api.LabIDs, kind string) string {
	return pictureOf(string(a.URL)) + "&" + url.Values{"kind": {kind}}.Encode()
}
