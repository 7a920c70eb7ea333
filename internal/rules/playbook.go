package rules

import "strings"

// Playbook is a page of help that leads from a problem to its end: evidence, plan, run, proof and undo. Its name is
// that of its file in docs/playbooks and of its address below /help.
type Playbook string

// The playbooks. New ones need a file of this name.
const (
	PlaybookHotProject          Playbook = "hot-project"
	PlaybookFullShard           Playbook = "full-shard"
	PlaybookJumboChunk          Playbook = "jumbo-chunk"
	PlaybookDuplicateID         Playbook = "duplicate-id"
	PlaybookNewShards           Playbook = "new-shards"
	PlaybookDrainShard          Playbook = "drain-shard"
	PlaybookBalancerFights      Playbook = "balancer-fights"
	PlaybookBalancerDoesNothing Playbook = "balancer-does-nothing"
	PlaybookChangeShardKey      Playbook = "change-shard-key"
	PlaybookManySmallChunks     Playbook = "many-small-chunks"
	PlaybookUnshardedData       Playbook = "unsharded-data"
)

// Playbooks are the playbooks of what the rule finds, the most likely one first; none if the rule says why.
func (r Rule) Playbooks() []Playbook {
	d, _ := r.definition()
	return d.playbooks
}

// Name is the playbook's name in a link.
func (p Playbook) Name() string { return strings.ReplaceAll(string(p), "-", " ") }

// URL is the address of the playbook's page.
func (p Playbook) URL() string { return "/help/" + string(p) }
