package main

import (
	"fmt"
	"io"
)

// completionCmd prints a script for a shell. The words come from the hidden command complete, so the
// script stays the same when commands are added.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help tells where the script goes.
func (completionCmd) Help() string {
	return "bash: source <(shardboard completion bash), in ~/.bashrc.\n\n" +
		"zsh: shardboard completion zsh > ~/.zfunc/_shardboard, with that directory in fpath before compinit.\n\n" +
		"fish: shardboard completion fish > ~/.config/fish/completions/shardboard.fish.\n\n" +
		"Names of shards, collections, projects and zones come from the server that SHARDBOARD_SERVER names, or that listens on this " +
		"machine, within a second."
}

func (c completionCmd) Run(e *env) error {
	_, err := io.WriteString(e.stdout, completionScripts[c.Shell])
	return err
}

// completionScripts are the scripts by shell. A name from the cluster can hold anything, so bash gets it
// quoted; zsh and fish quote by themselves.
var completionScripts = map[string]string{
	"bash": `# bash completion of shardboard
_shardboard() {
  local value rest
  COMPREPLY=()
  while IFS=$'\t' read -r value rest; do
    COMPREPLY+=("$(printf '%q' "$value")")
  done < <(shardboard complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _shardboard shardboard
`,
	"zsh": `#compdef shardboard
_shardboard() {
  local value rest
  local -a found
  while IFS=$'\t' read -r value rest; do
    value=${value//\\/\\\\}
    found+=("${value//:/\\:}:$rest")
  done < <(shardboard complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then
    _describe shardboard found
  else
    _files
  fi
}
if [ "$funcstack[1]" = "_shardboard" ]; then
  _shardboard
else
  compdef _shardboard shardboard
fi
`,
	"fish": `# fish completion of shardboard
function __shardboard_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l found (shardboard complete $words (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c shardboard -f -a '(__shardboard_complete)'
`,
}

// candidate is a word that can stand at the cursor, and what it means.
type candidate struct{ value, text string }

func printCandidates(w io.Writer, list []candidate) {
	for _, c := range list {
		if clean(c.value) == c.value { // others would not mean the same
			fmt.Fprintf(w, "%s\t%s\n", c.value, clean(c.text))
		}
	}
}
