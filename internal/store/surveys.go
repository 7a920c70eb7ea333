package store

import (
	"context"
	"time"
)

// Survey is a running or finished measurement. Only its writer interprets Head and Body; lists need
// only the head.
type Survey struct {
	ID   string
	At   time.Time // when it was requested
	Head []byte
	Body []byte
}

// Surveys stores measurements and their results.
type Surveys interface {
	// SaveSurvey adds or replaces a survey, in one transaction with the audit entries of whoever
	// asked for it.
	SaveSurvey(ctx context.Context, cluster string, s Survey, told ...AuditEntry) error
	// SurveyHeads returns surveys without their bodies, newest first.
	SurveyHeads(ctx context.Context, cluster string, limit int) ([]Survey, error)
	// SurveyBody returns a survey's body; fault.NotFound.
	SurveyBody(ctx context.Context, cluster, id string) ([]byte, error)
	// DropSurvey deletes a survey, if it exists.
	DropSurvey(ctx context.Context, cluster, id string) error
}
