// Package zones shows which ranges are bound to which shards, and where that is not so.
package zones

import (
	"net/http"
	"net/url"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// Page shows all zones.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	sh := s.Shell(r, v, "zones", "Zones", "zones")
	e, offers := edit{}, s.Offers(r, v.Table)
	if offers != nil && offers.WhyNone == "" {
		e = edit{may: true, row: r.URL.Query().Get(paramEdit), shards: templates.ShardRefs(v.Table)}
	}
	return site.WritePage(w, r, http.StatusOK, page(sh, region(problems.Zones(v), templates.RefsOf(v.Table), e), offers.Zones(), e.may))
}

// Region is the part of the page that is updated live.
func Region(v answer.View) templ.Component {
	return region(problems.Zones(v), templates.RefsOf(v.Table), edit{})
}

// paramEdit names the row that is a form.
const paramEdit = "edit"

// edit is what somebody changes on the page: nothing, a zone or a range, in its row.
type edit struct {
	may    bool
	row    string
	shards []templates.ShardRef // of the cluster
}

// address is the page's own while a row is a form, so that an update leaves it one.
func (e edit) address() string {
	if e.row == "" {
		return ""
	}
	return editURL(e.row)
}

func editURL(row string) string { return "/zones?" + url.Values{paramEdit: {row}}.Encode() }

// rowOfRange and rowOfZone name rows, for as long as the range and the zone are there.
func rowOfRange(r api.ZoneRange) string { return r.NS + " " + string(r.Min) }
func rowOfZone(z api.Zone) string       { return "zone " + z.Zone }

// editForm is the id of the form of the row that is edited, to which the fields of its cells belong.
const editForm = "zone-edit"

// zoneText is a zone as one line.
func zoneText(z api.ZoneName) string {
	if z.ProjectName != "" {
		return z.Kind + ": " + z.ProjectName
	}
	return z.Zone
}
