package store

import (
	"context"
	"time"
)

// Request is what somebody asked a replica for that only the leader can do. By and Body are
// interpreted by whoever asks and answers.
type Request struct {
	ID      string
	Cluster string // cluster id
	What    string
	By      []byte // who asks
	Body    []byte
	Made    time.Time
	Within  time.Duration // since it was stored, by the store's clock; later it must not be done
	Seal    []byte        // by package seal; nil: none
}

// RequestState is what became of a request.
type RequestState struct {
	Term     int64 // of the leader that took it; 0: not taken
	Answered bool
	Answer   []byte
}

// RequestKept is how long requests are kept.
const RequestKept = time.Hour

// Requests passes what people ask at a replica to the leader. Only a store that processes share has
// it: those that read a data directory cannot write a request into it.
type Requests interface {
	// AddRequest stores a request for the leader.
	AddRequest(ctx context.Context, r Request) error
	// TakeRequest returns the oldest request of a cluster that was not taken and has not expired, and
	// marks it as taken, so that no other leader does it; NotFound when there is none.
	TakeRequest(ctx context.Context, cluster string) (Request, error)
	// AnswerRequest stores the answer to a request that this leader took; NotFound.
	AnswerRequest(ctx context.Context, id string, answer []byte) error
	// RequestState returns what became of a request; NotFound.
	RequestState(ctx context.Context, id string) (RequestState, error)
	// WithdrawRequest deletes a request that was not taken. It reports false when it was.
	WithdrawRequest(ctx context.Context, id string) (bool, error)
	// DropRequests deletes the requests made before a time.
	DropRequests(ctx context.Context, before time.Time) error
}
