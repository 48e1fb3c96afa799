# What is installed, and Debian packages of it (CPack): one a program, and edge-common with what several need. script/package
# builds them with the preset `package`. Manual pages and completions are printed by the programs themselves, by script/package,
# into build/package/generated.
include(GNUInstallDirs)
set(generated "${CMAKE_BINARY_DIR}/generated")

# edge_packaged(COMPONENT PROGRAM): the program, its unit and its configuration.
function(edge_packaged name)
  install(TARGETS ${name} RUNTIME DESTINATION bin COMPONENT ${name})
  install(DIRECTORY "${generated}/${name}/man/" DESTINATION share/man COMPONENT ${name})
  set(files "${CMAKE_SOURCE_DIR}/packaging/debian/${name}")
  set(documentation "${CMAKE_INSTALL_PREFIX}/share/doc/${name}")
  install(FILES "${CMAKE_SOURCE_DIR}/packaging/debian/copyright" DESTINATION "share/doc/${name}" COMPONENT ${name})
  install(FILES "${generated}/changelog.gz" DESTINATION "share/doc/${name}" COMPONENT ${name})
  if(EXISTS "${CMAKE_SOURCE_DIR}/deploy/systemd/${name}.service")
    install(FILES "${CMAKE_SOURCE_DIR}/deploy/systemd/${name}.service" DESTINATION /lib/systemd/system COMPONENT ${name})
  endif()
  if(IS_DIRECTORY "${files}/etc")
    install(DIRECTORY "${files}/etc/" DESTINATION /etc/edge COMPONENT ${name})
  endif()
endfunction()
edge_packaged(edge-agent)
edge_packaged(edge-controller)
edge_packaged(edge-standalone)
edge_packaged(edge-operator)
edge_packaged(edgectl)
install(TARGETS edge-regexc RUNTIME DESTINATION bin COMPONENT edge-common)
install(FILES "${CMAKE_SOURCE_DIR}/packaging/debian/copyright" "${generated}/changelog.gz" DESTINATION share/doc/edge-common COMPONENT edge-common)
install(DIRECTORY "${generated}/edge-common/man/" DESTINATION share/man COMPONENT edge-common)
install(FILES "${generated}/edgectl/edgectl.bash" DESTINATION share/bash-completion/completions RENAME edgectl COMPONENT edgectl)
install(FILES "${generated}/edgectl/edgectl.zsh" DESTINATION share/zsh/vendor-completions RENAME _edgectl COMPONENT edgectl)
install(FILES "${generated}/edgectl/edgectl.fish" DESTINATION share/fish/vendor_completions.d COMPONENT edgectl)
install(DIRECTORY "${CMAKE_SOURCE_DIR}/examples/" DESTINATION share/doc/edge-standalone/examples COMPONENT edge-standalone
  PATTERN "*.md" EXCLUDE)
# The samples that examples/quick-start/run.py sends.
install(FILES "${CMAKE_SOURCE_DIR}/README.md" DESTINATION share/doc/edge-standalone COMPONENT edge-standalone)
install(DIRECTORY "${CMAKE_SOURCE_DIR}/deploy/crds" DESTINATION share/edge COMPONENT edge-controller)
install(DIRECTORY "${CMAKE_SOURCE_DIR}/deploy/prometheus" "${CMAKE_SOURCE_DIR}/deploy/grafana" DESTINATION share/edge COMPONENT edge-common)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL edge-agent edge-controller edge-operator edge-standalone edgectl edge-common)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR OFF)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_NAME edge)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}/packages")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "Edge proxy maintainers <maintainers@edgeproxy.io>")
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "https://edgeproxy.io")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz CACHE STRING "Of packages; gzip is quicker")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# edge_described(COMPONENT DEPENDS SUMMARY LINE...): the control fields of a package. A line that is `.` ends a paragraph.
function(edge_described name depends summary)
  string(TOUPPER "${name}" upper)
  list(JOIN ARGN "\n" text)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
  set(control "")
  file(GLOB scripts "${CMAKE_SOURCE_DIR}/packaging/debian/${name}/DEBIAN/*")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${scripts}" PARENT_SCOPE)
endfunction()
set(common "edge-common (= ${PROJECT_VERSION})")
edge_described(edge-agent "${common}, init-system-helpers (>= 1.54)" "reverse proxy and load balancer, data plane"
  "Serves HTTP/1.1, HTTP/2, gRPC, WebSocket, TCP and TLS by the compiled"
  "programs of an edge-controller, or by one from a file.")
set(CPACK_DEBIAN_EDGE-AGENT_PACKAGE_RECOMMENDS bird2)
# Only of sites of an SD-WAN: what steers traffic, and WireGuard where the kernel has none.
set(CPACK_DEBIAN_EDGE-AGENT_PACKAGE_SUGGESTS "edgectl, nftables, iproute2, wireguard-go")
edge_described(edge-controller "${common}, init-system-helpers (>= 1.54)" "reverse proxy and load balancer, controller of a cluster"
  "Follows the resources of a Kubernetes API, compiles them to routing"
  "programs, and gives these to edge-agents.")
set(CPACK_DEBIAN_EDGE-CONTROLLER_PACKAGE_SUGGESTS edgectl)
edge_described(edge-operator "" "reverse proxy and load balancer, operator of a cluster"
  "Keeps the controller and the agents of a Kubernetes cluster as an"
  "EdgeCluster says, from outside of the cluster, with a kubeconfig.")
edge_described(edge-standalone "${common}, init-system-helpers (>= 1.54)" "reverse proxy and load balancer of one machine"
  "Resource API, controller and data plane in one process, configured by"
  "files in /etc/edge/conf.d or through its API.")
set(CPACK_DEBIAN_EDGE-STANDALONE_PACKAGE_RECOMMENDS "edgectl, bird2")
edge_described(edgectl "${common}" "client of the edge proxy"
  "Checks, compiles, compares and explains configuration, and reads and"
  "changes the resources of a cluster or of an edge-standalone.")
edge_described(edge-common "" "files that several programs of the edge proxy need"
  "The compiler of patterns, alerts and dashboards.")
include(CPack)
