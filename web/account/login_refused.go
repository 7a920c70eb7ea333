package account

import (
	"errors"
	"strings"

	"shardboard/internal/auth"
	"shardboard/internal/sanitize"
	"shardboard/web/templates"
)

// refusedModel is what a refusal says beyond its sentence.
func refusedModel(err error) *templates.Refused {
	var r *auth.Refusal
	if !errors.As(err, &r) || r.Advice == "" {
		return nil
	}
	m := &templates.Refused{Advice: sanitize.Sentence(r.Advice)}
	if names := r.Claims.IDToken; len(names) > 0 {
		m.Claims = append(m.Claims, "Claims in the ID token: "+strings.Join(names, ", "))
	}
	if names := r.Claims.UserInfo; len(names) > 0 {
		m.Claims = append(m.Claims, "Claims from UserInfo: "+strings.Join(names, ", "))
	}
	return m
}
