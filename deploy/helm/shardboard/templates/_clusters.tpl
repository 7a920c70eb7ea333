{{/* The configuration file of several clusters. */}}
{{- define "shardboard.clusters" -}}
clusters:
{{- $seen := dict }}
{{- range .Values.clusters }}
{{- if hasKey $seen .name }}{{ fail (printf "clusters: there are two with the name %s" .name) }}{{ end }}
{{- $_ := set $seen .name true }}
  - name: {{ .name | quote }}
    uri-file: {{ printf "/secrets/clusters/%s/%s" .name (default "uri" .uriSecret.key) | quote }}
    {{- with .title }}
    title: {{ . | quote }}
    {{- end }}
    {{- with .actions }}
    actions: {{ . | quote }}
    {{- end }}
    {{- with .maintenanceWindow }}
    maintenance-window: {{ toJson . }}
    {{- end }}
    {{- with .approvalBytes }}
    approval-bytes: {{ . | quote }}
    {{- end }}
    {{- if hasKey . "approvalChunks" }}
    approval-chunks: {{ int .approvalChunks }}
    {{- end }}
    {{- if hasKey . "approvalKinds" }}
    approval-kinds: {{ toJson .approvalKinds }}
    {{- end }}
    {{- with .approvalWait }}
    approval-wait: {{ . | quote }}
    {{- end }}
    {{- if hasKey . "hideBounds" }}
    hide-bounds: {{ .hideBounds }}
    {{- end }}
    {{- if hasKey . "projectSizesPerMinute" }}
    project-sizes-per-minute: {{ int .projectSizesPerMinute }}
    {{- end }}
    {{- if (.alertsSecret).name }}
    alerts: {{ printf "/secrets/alerts/%s/%s" .name (default "alerts.yaml" .alertsSecret.key) | quote }}
    {{- end }}
    {{- if (.profileConfigMap).name }}
    profile: {{ printf "/profiles/%s/%s" .name (default "profile.yaml" .profileConfigMap.key) | quote }}
    {{- end }}
    {{- with .roles }}
    roles: {{ toJson . }}
    {{- end }}
{{- end }}
{{- end }}

{{/* The name of what holds the whole configuration file; "" if there is none. */}}
{{- define "shardboard.configFile" -}}
{{- default .Values.configFile.secret .Values.configFile.configMap }}
{{- end }}

{{/* The volumes of files that a cluster names besides its address. It is called with the cluster and its name. */}}
{{- define "shardboard.clusterVolumes" -}}
{{- if (.cluster.alertsSecret).name }}
- name: alerts-{{ .name }}
  secret: {secretName: {{ .cluster.alertsSecret.name }}, defaultMode: 0440}
{{- end }}
{{- if (.cluster.profileConfigMap).name }}
- name: profile-{{ .name }}
  configMap: {name: {{ .cluster.profileConfigMap.name }}}
{{- end }}
{{- end }}

{{- define "shardboard.clusterMounts" -}}
{{- if (.cluster.alertsSecret).name }}
- {name: alerts-{{ .name }}, mountPath: /secrets/alerts/{{ .name }}, readOnly: true}
{{- end }}
{{- if (.cluster.profileConfigMap).name }}
- {name: profile-{{ .name }}, mountPath: /profiles/{{ .name }}, readOnly: true}
{{- end }}
{{- end }}
