; Captures are explained in languages/__init__.py.

(class_definition name: (_) @name) @class
(class_definition body: (_) @body)
(object_definition name: (_) @name) @class
(object_definition body: (_) @body)
(package_object name: (_) @name) @class
(package_object body: (_) @body)
(trait_definition name: (_) @name) @trait
(trait_definition body: (_) @body)
(enum_definition name: (_) @name) @enum
(enum_definition body: (_) @body)
(given_definition name: (_) @name) @class
(given_definition body: (_) @body)
(given_definition) @scope
(extension_definition parameters: (parameters (parameter type: [
  (type_identifier) @name
  (generic_type type: (_) @name)
]))) @scope
(extension_definition) @scope
(instance_expression (template_body)) @scope

(function_definition name: (_) @name) @function
(function_definition body: (_) @body)
(function_declaration name: (_) @name) @function
(template_body (type_definition name: (_) @name type: (_)) @type)
(compilation_unit (type_definition name: (_) @name) @type)

(annotation) @attribute
[(comment) (block_comment)] @comment
(package_clause name: (_) @trivia)
(package_clause "package" @trivia)

(call_expression function: [(identifier) (field_expression) (generic_function)] @call)
(instance_expression . [(type_identifier) (generic_type) (stable_type_identifier)] @call)
(extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @inherits)

[(if_expression) (case_clause)] @branch
[(for_expression) (while_expression) (do_while_expression)] @loop

(import_declaration) @import
