; Captures are explained in languages/__init__.py.

(class_declaration name: (identifier) @name body: (_) @body) @class
(record_declaration name: (identifier) @name body: (_) @body) @class
(interface_declaration name: (identifier) @name body: (_) @body) @interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @interface
(enum_declaration name: (identifier) @name body: (_) @body) @enum
(method_declaration name: (identifier) @name) @method
(method_declaration body: (_) @body)
(annotation_type_element_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name body: (_) @body) @method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @method

(modifiers [(annotation) (marker_annotation)] @attribute)
[(line_comment) (block_comment)] @comment
(package_declaration) @trivia

(method_invocation object: (_) @receiver)
(method_invocation name: (identifier) @call)
(object_creation_expression type: (_) @call)

(superclass (_) @inherits)
(super_interfaces (type_list (_) @inherits))
(extends_interfaces (type_list (_) @inherits))

[(if_statement) (catch_clause) (ternary_expression) (switch_block_statement_group) (switch_rule)] @branch
[(for_statement) (enhanced_for_statement) (while_statement) (do_statement)] @loop

(import_declaration) @import
