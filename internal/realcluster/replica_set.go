package realcluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"
)

const (
	// electionPatience is how long a replica set may be without a primary.
	electionPatience = 2 * time.Minute
	// electionTimeoutMillis is shorter than the default of ten seconds, so that a killed primary is
	// replaced sooner.
	electionTimeoutMillis = 5000
	// stepDownSeconds is how long a primary that stepped down may not be elected again.
	stepDownSeconds = 5
)

// set is a replica set.
type set struct {
	name    string
	replSet string // its name as a replica set
	config  bool   // of a config server
	members []*member
}

// start starts all members and initiates the set.
func (s *set) start(ctx context.Context) error {
	together, startCtx := errgroup.WithContext(ctx)
	for _, m := range s.members {
		together.Go(func() error { return m.start(startCtx) })
	}
	if err := together.Wait(); err != nil {
		return err
	}
	members := bson.A{}
	for i, m := range s.members {
		members = append(members, bson.D{{Key: "_id", Value: i}, {Key: "host", Value: m.address()}})
	}
	config := bson.D{{Key: "_id", Value: s.replSet}}
	if s.config {
		config = append(config, bson.E{Key: "configsvr", Value: true})
	}
	config = append(config, bson.E{Key: "members", Value: members},
		bson.E{Key: "settings", Value: bson.D{{Key: "electionTimeoutMillis", Value: electionTimeoutMillis}}})
	if _, err := ask(ctx, s.members[0].address(), bson.D{{Key: "replSetInitiate", Value: config}}); err != nil {
		return fmt.Errorf("the replica set %s was not initiated: %w", s.name, err)
	}
	_, err := s.primary(ctx)
	return err
}

// host is the set's name with the addresses of its members, as addShard and --configdb take it.
func (s *set) host() string {
	addresses := make([]string, len(s.members))
	for i, m := range s.members {
		addresses[i] = m.address()
	}
	return s.replSet + "/" + strings.Join(addresses, ",")
}

var errNoPrimary = errors.New("no member is primary")

// primary waits for the primary.
func (s *set) primary(ctx context.Context) (*member, error) {
	ctx, cancel := context.WithTimeout(ctx, electionPatience)
	defer cancel()
	var found *member
	err := until(ctx, nil, func(ctx context.Context) error {
		found = s.currentPrimary(ctx)
		if found == nil {
			return errNoPrimary
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("the replica set %s has no primary: %w", s.name, err)
	}
	return found, nil
}

// currentPrimary is the member that says that it is primary; nil if none does. A frozen member does
// not answer, so each is asked for a short time only.
func (s *set) currentPrimary(ctx context.Context) *member {
	for _, m := range s.members {
		if !m.answers() {
			continue
		}
		one, cancel := context.WithTimeout(ctx, 2*time.Second)
		reply, err := ask(one, m.address(), bson.D{{Key: "hello", Value: 1}})
		cancel()
		if err == nil && reply.Lookup("isWritablePrimary").Boolean() {
			return m
		}
	}
	return nil
}

// stepDown makes the primary step down and waits until the set has one again. A lone member has to be
// forced, because nobody can take over, and is elected again after stepDownSeconds.
func (s *set) stepDown(ctx context.Context) error {
	p, err := s.primary(ctx)
	if err != nil {
		return err
	}
	if len(s.members) > 1 {
		_, err = ask(ctx, p.address(), bson.D{{Key: "replSetStepDown", Value: 60}, {Key: "secondaryCatchUpPeriodSecs", Value: 10}})
	}
	if len(s.members) == 1 || err != nil { // nobody can take over, or nobody is up to date
		_, err = ask(ctx, p.address(), bson.D{{Key: "replSetStepDown", Value: stepDownSeconds}, {Key: "secondaryCatchUpPeriodSecs", Value: 0},
			{Key: "force", Value: true}})
	}
	if err != nil {
		return fmt.Errorf("the primary of %s did not step down: %w", s.name, err)
	}
	_, err = s.primary(ctx)
	return err
}
