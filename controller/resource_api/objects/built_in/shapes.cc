#include "controller/resource_api/objects/built_in/shapes.h"

namespace edge::resource_api::objects {

const std::string_view kBuiltInShapes = R"(
type Condition
  type string
  status string
  observedGeneration int
  lastTransitionTime time
  lastProbeTime time
  lastUpdateTime time
  lastHeartbeatTime time
  reason string
  message string
type ObjectReference
  apiVersion string
  kind string
  namespace string
  name string
  uid string
  resourceVersion string
  fieldPath string
type LocalReference
  name string
type TypedReference
  apiGroup string
  kind string
  name string
  namespace string
  scope string
type LabelSelector
  matchLabels {string}
  matchExpressions [Requirement]
type Requirement
  key string
  operator string
  values [string]

type ConfigMap
  data {string}
  binaryData {bytes}
  immutable bool
kind - ConfigMap ConfigMap

type Secret
  type string default=Opaque
  data {bytes}
  stringData {string}
  immutable bool
kind - Secret Secret

type Namespace
  spec NamespaceSpec
  status NamespaceStatus
type NamespaceSpec
  finalizers [string]
type NamespaceStatus
  phase string
  conditions [Condition] map=type merge=type
kind - Namespace Namespace

type ServiceAccount
  secrets [ObjectReference] map=name merge=name
  imagePullSecrets [LocalReference]
  automountServiceAccountToken bool
kind - ServiceAccount ServiceAccount

type Service
  spec ServiceSpec
  status ServiceStatus
type ServiceSpec
  ports [ServicePort] map=port,protocol merge=port
  selector {string} atomic
  clusterIP string
  clusterIPs [string]
  type string default=ClusterIP
  externalIPs [string]
  sessionAffinity string default=None
  sessionAffinityConfig SessionAffinityConfig
  loadBalancerIP string
  loadBalancerSourceRanges [string]
  loadBalancerClass string
  externalName string
  externalTrafficPolicy string
  internalTrafficPolicy string
  healthCheckNodePort int
  publishNotReadyAddresses bool
  ipFamilies [string]
  ipFamilyPolicy string
  allocateLoadBalancerNodePorts bool
  trafficDistribution string
type SessionAffinityConfig
  clientIP ClientIpConfig
type ClientIpConfig
  timeoutSeconds int
type ServicePort
  name string
  protocol string default=TCP
  appProtocol string
  port int
  targetPort intstr
  nodePort int
type ServiceStatus
  loadBalancer LoadBalancerStatus
  conditions [Condition] map=type merge=type
type LoadBalancerStatus
  ingress [LoadBalancerIngress]
type LoadBalancerIngress
  ip string
  hostname string
  ipMode string
  ports [PortStatus]
type PortStatus
  port int
  protocol string
  error string
kind - Service Service

type Endpoints
  subsets [EndpointSubset]
type EndpointSubset
  addresses [EndpointAddress]
  notReadyAddresses [EndpointAddress]
  ports [EndpointPort]
type EndpointAddress
  ip string
  hostname string
  nodeName string
  targetRef ObjectReference atomic
type EndpointPort
  name string
  port int
  protocol string default=TCP
  appProtocol string
kind - Endpoints Endpoints

type EndpointSlice
  addressType string
  endpoints [Endpoint]
  ports [EndpointPort]
type Endpoint
  addresses [string] set
  conditions EndpointConditions
  hostname string
  targetRef ObjectReference atomic
  deprecatedTopology {string}
  nodeName string
  zone string
  hints EndpointHints
type EndpointConditions
  ready bool
  serving bool
  terminating bool
type EndpointHints
  forZones [LocalReference]
  forNodes [LocalReference]
kind discovery.k8s.io EndpointSlice EndpointSlice

type EventSource
  component string
  host string
type EventSeries
  count int
  lastObservedTime time
type CoreEvent
  involvedObject ObjectReference atomic
  reason string
  message string
  source EventSource
  firstTimestamp time
  lastTimestamp time
  count int
  type string
  eventTime time
  series EventSeries
  action string
  related ObjectReference atomic
  reportingComponent string
  reportingInstance string
kind - Event CoreEvent
type Event
  eventTime time
  series EventSeries
  reportingController string
  reportingInstance string
  action string
  reason string
  regarding ObjectReference atomic
  related ObjectReference atomic
  note string
  type string
  deprecatedSource EventSource
  deprecatedFirstTimestamp time
  deprecatedLastTimestamp time
  deprecatedCount int
kind events.k8s.io Event Event

type Lease
  spec LeaseSpec
type LeaseSpec
  holderIdentity string
  leaseDurationSeconds int
  acquireTime time
  renewTime time
  leaseTransitions int
  strategy string
  preferredHolder string
kind coordination.k8s.io Lease Lease

type Ingress
  spec IngressSpec
  status IngressStatus
type IngressSpec
  ingressClassName string
  defaultBackend IngressBackend
  tls [IngressTls]
  rules [IngressRule]
type IngressTls
  hosts [string]
  secretName string
type IngressRule
  host string
  http HttpRule
type HttpRule
  paths [HttpPath]
type HttpPath
  path string
  pathType string
  backend IngressBackend
type IngressBackend
  service ServiceBackend
  resource TypedReference atomic
type ServiceBackend
  name string
  port ServiceBackendPort
type ServiceBackendPort
  name string
  number int
type IngressStatus
  loadBalancer LoadBalancerStatus
kind networking.k8s.io Ingress Ingress
type IngressClass
  spec IngressClassSpec
type IngressClassSpec
  controller string
  parameters TypedReference
kind networking.k8s.io IngressClass IngressClass

type PolicyRule
  verbs [string]
  apiGroups [string]
  resources [string]
  resourceNames [string]
  nonResourceURLs [string]
type AggregationRule
  clusterRoleSelectors [LabelSelector]
type Role
  rules [PolicyRule]
type ClusterRole
  rules [PolicyRule]
  aggregationRule AggregationRule
type Subject
  kind string
  apiGroup string
  name string
  namespace string
type RoleBinding
  subjects [Subject]
  roleRef TypedReference atomic
kind rbac.authorization.k8s.io Role Role
kind rbac.authorization.k8s.io ClusterRole ClusterRole
kind rbac.authorization.k8s.io RoleBinding RoleBinding
kind rbac.authorization.k8s.io ClusterRoleBinding RoleBinding

type Node
  spec NodeSpec
  status NodeStatus
type NodeSpec
  podCIDR string
  podCIDRs [string] set merge
  providerID string
  unschedulable bool
  taints [Any]
  ...
type Any
  ...
type NodeStatus
  conditions [Condition] map=type merge=type
  addresses [NodeAddress] map=type merge=type
  ...
type NodeAddress
  type string
  address string
kind - Node Node

type TemplateMeta
  name string
  labels {string}
  annotations {string}
  finalizers [string] set merge
  creationTimestamp time
  ...
type PodTemplate
  metadata TemplateMeta
  spec PodSpec
type PodSpec
  containers [Container] map=name merge=name
  initContainers [Container] map=name merge=name
  ephemeralContainers [Container] map=name merge=name
  volumes [Volume] map=name merge=name retain
  imagePullSecrets [LocalReference] map=name merge=name
  hostAliases [HostAlias] map=ip merge=ip
  topologySpreadConstraints [SpreadConstraint] map=topologyKey,whenUnsatisfiable merge=topologyKey
  readinessGates [Any]
  schedulingGates [LocalReference] map=name merge=name
  resourceClaims [NamedAny] map=name merge=name retain
  tolerations [Any]
  nodeSelector {string} atomic
  ...
type NamedAny
  name string
  ...
type SpreadConstraint
  topologyKey string
  whenUnsatisfiable string
  ...
type Volume
  name string
  ...
type HostAlias
  ip string
  hostnames [string]
type Container
  name string
  image string
  command [string]
  args [string]
  ports [ContainerPort] map=containerPort,protocol merge=containerPort
  env [EnvVar] map=name merge=name
  envFrom [Any]
  volumeMounts [VolumeMount] map=mountPath merge=mountPath
  volumeDevices [VolumeDevice] map=devicePath merge=devicePath
  ...
type ContainerPort
  name string
  hostPort int
  containerPort int
  protocol string default=TCP
  hostIP string
type EnvVar
  name string
  value string
  valueFrom Any
type VolumeMount
  mountPath string
  ...
type VolumeDevice
  devicePath string
  name string
type Pod
  spec PodSpec
  status PodStatus
type PodIp
  ip string
type PodStatus
  conditions [Condition] map=type merge=type
  podIPs [PodIp] map=ip merge=ip
  hostIPs [PodIp] merge=ip
  ...
kind - Pod Pod

type Workload
  spec WorkloadSpec
  status WorkloadStatus
type WorkloadSpec
  replicas int
  selector LabelSelector atomic
  template PodTemplate
  strategy Strategy retain
  updateStrategy Strategy
  minReadySeconds int
  revisionHistoryLimit int
  progressDeadlineSeconds int
  paused bool
type Strategy
  type string
  rollingUpdate RollingUpdate
type RollingUpdate
  maxUnavailable intstr
  maxSurge intstr
type WorkloadStatus
  conditions [Condition] map=type merge=type
  ...
kind apps Deployment Workload
kind apps DaemonSet Workload
kind apps ReplicaSet Workload

type CustomResourceDefinition
  spec CrdSpec
  status CrdStatus
type CrdSpec
  group string
  names CrdNames
  scope string
  versions [CrdVersion]
  conversion Any
  preserveUnknownFields bool
type CrdNames
  plural string
  singular string
  shortNames [string]
  kind string
  listKind string
  categories [string]
type CrdVersion
  name string
  ...
type CrdStatus
  conditions [Condition] map=type
  acceptedNames CrdNames
  storedVersions [string]
kind apiextensions.k8s.io CustomResourceDefinition CustomResourceDefinition
)";

}  // namespace edge::resource_api::objects
