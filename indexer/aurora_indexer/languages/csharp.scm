; Captures are explained in languages/__init__.py.

(class_declaration name: (identifier) @name) @class
(class_declaration body: (_) @body)
(record_declaration name: (identifier) @name) @class
(record_declaration body: (_) @body)
(struct_declaration name: (identifier) @name) @struct
(struct_declaration body: (_) @body)
(interface_declaration name: (identifier) @name) @interface
(interface_declaration body: (_) @body)
(enum_declaration name: (identifier) @name) @enum
(enum_declaration body: (_) @body)
(delegate_declaration name: (identifier) @name) @type

(method_declaration name: (identifier) @name) @method
(method_declaration body: (_) @body)
(constructor_declaration name: (identifier) @name body: (_) @body) @method
(destructor_declaration name: (identifier) @name body: (_) @body) @method
(operator_declaration operator: _ @name body: (_) @body) @method
(conversion_operator_declaration type: (_) @name body: (_) @body) @method
(local_function_statement name: (identifier) @name body: (_) @body) @function

; Of properties and events those that run code.
(property_declaration name: (identifier) @name value: (arrow_expression_clause) @body) @method
(property_declaration
  name: (identifier) @name
  accessors: (accessor_list (accessor_declaration body: (_))) @body) @method
(indexer_declaration "this" @name value: (_) @body) @method
(indexer_declaration "this" @name accessors: (accessor_list (accessor_declaration body: (_))) @body) @method
(event_declaration name: (identifier) @name accessors: (accessor_list (accessor_declaration body: (_))) @body) @method

(attribute_list) @attribute
(comment) @comment
(file_scoped_namespace_declaration) @trivia
(namespace_declaration "namespace" @trivia)
(namespace_declaration name: (_) @trivia)
(extern_alias_directive) @trivia

(invocation_expression function: [
  (identifier) (generic_name) (member_access_expression) (conditional_access_expression)
] @call)
(object_creation_expression type: [(identifier) (generic_name) (qualified_name)] @call)
(base_list [(identifier) (generic_name) (qualified_name)] @inherits)
(base_list (primary_constructor_base_type . (_) @inherits))

[(if_statement) (switch_section) (switch_expression_arm) (catch_clause) (conditional_expression)] @branch
[(for_statement) (foreach_statement) (while_statement) (do_statement)] @loop

(using_directive) @import
