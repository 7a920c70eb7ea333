package projects

import (
	"net/http"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/web/site"
)

// pageProject answers "where is this tenant?".
func PageProject(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	raw, err := site.PathText(r, "id")
	if err != nil {
		return err
	}
	id, err := bson.ObjectIDFromHex(raw)
	if err != nil {
		return fault.New(fault.Invalid, "A project id is 24 hexadecimal digits; %q is not.", sanitize.Truncate(raw, 60))
	}
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	m, err := ProjectView(v, s.Deps.Profile, id)
	if err != nil {
		return err
	}
	if v.Past == nil { // what was measured is of now
		m.Survey = s.SurveyPanelOf(v, id, auth.From(r.Context()))
	}
	pr, _ := v.Dir.ByID(id) // there, or its view would not be
	acts := s.Offers(r, v.Table).Project(pr)
	sh := s.Shell(r, v, "projects", m.Name, "project:"+id.Hex())
	return site.WritePage(w, r, http.StatusOK, ProjectPage(sh, m, acts))
}
