package advice

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/rules"
	"shardboard/web/parts"
	"shardboard/web/site"
)

func ApiAdvice(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if _, err := s.Loaded(r); err != nil {
		return err
	}
	v, found, err := advised(s, r)
	if err != nil {
		return err
	}
	may := answer.AdviceMay{Plan: s.MayPlan(auth.From(r.Context())), Try: s.Tries(v)}
	return site.WriteJSON(w, http.StatusOK, answer.AdviceOf(v, found, may))
}

func ApiDismiss(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.Reason
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	return apiDecide(s, w, r, in.Reason, func(a *rules.Advisor, id, reason string) error {
		return a.Dismiss(r.Context(), id, reason, parts.Deed(r))
	})
}

func ApiRestore(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return apiDecide(s, w, r, "", func(a *rules.Advisor, id, _ string) error { return a.Restore(r.Context(), id, parts.Deed(r)) })
}

// apiDecide answers with the list as it is then.
func apiDecide(s *site.Site, w http.ResponseWriter, r *http.Request, reason string, do func(a *rules.Advisor, id, reason string) error) error {
	id, err := site.PathText(r, "id")
	if err != nil {
		return err
	}
	id, reason, err = answer.IdAndReason(id, reason)
	if err == nil {
		err = do(s.Deps.Advice, id, reason)
	}
	if err != nil {
		return err
	}
	return ApiAdvice(s, w, r)
}
