package advice

import (
	"net/http"

	"shardboard/internal/alert"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/sanitize"
	"shardboard/web/parts"
	"shardboard/web/site"
)

// apiAlerts answers an empty list of receivers where nobody is alerted.
func ApiAlerts(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return site.WriteJSON(w, http.StatusOK, answer.AlertsOf(s.ViewFor(r), s.AlertStatus(r)))
}

func ApiAlertTest(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.AlertTest
	return alertDo(s, w, r, &in, func(e *alert.Engine) error {
		_, err := e.Test(r.Context(), in.Target, parts.Deed(r))
		return err
	})
}

func ApiSilence(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.SilenceStart
	return alertDo(s, w, r, &in, func(e *alert.Engine) error { return silence(r, e, in.Alert, in.Rule, in.For, in.Reason) })
}

func ApiEndSilence(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.SilenceEnd
	return alertDo(s, w, r, &in, func(e *alert.Engine) error {
		return e.Unsilence(r.Context(), sanitize.Truncate(in.ID, 100), parts.Deed(r))
	})
}

// alertDo reads a body, does what it says and answers with what is then.
func alertDo(s *site.Site, w http.ResponseWriter, r *http.Request, in any, do func(*alert.Engine) error) error {
	e, err := alerts(s)
	if err != nil {
		return err
	}
	if err := site.ReadJSON(r, in); err != nil {
		return err
	}
	if err := do(e); err != nil {
		return err
	}
	return ApiAlerts(s, w, r)
}
