package web

import (
	"net/http"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/web/templates"
)

// pageProject answers "where is this tenant?".
func (s *Site) pageProject(w http.ResponseWriter, r *http.Request) error {
	raw, err := pathText(r, "id")
	if err != nil {
		return err
	}
	id, err := bson.ObjectIDFromHex(raw)
	if err != nil {
		return fault.New(fault.Invalid, "A project id is 24 hexadecimal digits; %q is not.", sanitize.Truncate(raw, 60))
	}
	v, err := s.viewAt(r)
	if err != nil {
		return err
	}
	m, err := projectView(v, s.deps.Profile, id)
	if err != nil {
		return err
	}
	if v.Past == nil { // what was measured is of now
		m.Survey = s.surveyPanelOf(v, id, auth.From(r.Context()))
	}
	pr, _ := v.Dir.ByID(id) // there, or its view would not be
	acts := s.offers(r, v.Table).project(pr)
	sh := s.shell(r, v, "projects", m.Name, "project:"+id.Hex())
	return writePage(w, r, http.StatusOK, templates.ProjectPage(sh, m, acts))
}
